/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A mosquitto broker and mosquitto_sub, and a listener that plays the broker. */
#ifndef CCL_TEST_MQTTBROKER_H
#define CCL_TEST_MQTTBROKER_H

#include <gio/gio.h>
#include <gst/check/gstcheck.h>

/* Ends a hang, also on a busy machine. */
#define PATIENCE ((gint64) 100 * G_USEC_PER_SEC)

typedef struct
{
  GSubprocess *process;
  GDataInputStream *lines;
} Listener;

typedef struct
{
  guint port;
  GSubprocess *process;
  Listener listener;
} HeardBroker;

#define OPEN_TO_ALL "allow_anonymous true"

/* Each test that needs a broker begins with this; those with TLS with the second. */
#define NEED_BROKER() SKIP_TEST_UNLESS (have_broker (), "mosquitto and mosquitto-clients are not installed")
#define NEED_OPENSSL() SKIP_TEST_UNLESS (have_broker () && openssl_path, "no mosquitto, mosquitto-clients or openssl")

/* Where the files of the broker are, and programs; NULL: not installed. */
extern gchar *broker_folder, *passwd_path, *openssl_path;

gboolean have_broker (void);

gchar *in_folder (const gchar * name);

/* A port nobody listens to at the moment. */
guint free_port (void);

/* Whether the program ends well; run_program() fails the test if not. */
gboolean try_program (const gchar * const *arguments);
void run_program (const gchar * const *arguments);
GSubprocess *start_broker_at (const gchar * address, guint port, const gchar * settings);
GSubprocess *start_broker (guint port, const gchar * settings);
void stop_program (GSubprocess * process);

/* A certificate for `name`, signed by itself: STEM.pem and STEM.key. The broker's settings with it; g_free() */
void make_certificate (const gchar * stem, const gchar * name);
gchar *tls_settings (const gchar * stem);

/* openssl's TLS server, which takes this version alone ("-tls1_1") and writes to its output what it hears. */
GSubprocess *start_tls_server (guint port, const gchar * version, const gchar * certificate);

/* Has subscribed to everything when it returns, with further mosquitto_sub arguments. The broker takes everybody. */
Listener listen_at (guint port, const gchar * const *more);

/* A broker of these settings, and its listener. */
HeardBroker start_heard_broker (const gchar * settings, const gchar * const *more);
void stop_heard_broker (HeardBroker * broker);
void expect_numbers (Listener * listener, const gchar * topic, guint first, guint last);

/* In order, but some may come again. */
void expect_numbers_at_least_once (Listener * listener, guint first, guint last);
void close_listener (Listener * listener);

/* A broker of our own, which answers when the test calls for an answer. */
GSocketListener *new_listener (guint * port);

/* The next client, which says that it is one, and is not answered. */
GSocketConnection *accept_client (GSocketListener * listener);
void welcome_client (GSocketConnection * connection);

/* A client of our own, which begins with these bytes. */
GSocketConnection *connect_with (guint port, const guint8 * data, gsize size);
void send_bytes (GSocketConnection * connection, gconstpointer data, gsize size);
void find_programs (void);
void forget_programs (void);

#endif
