/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside ccloverlay: what its files share. */
#ifndef __GST_CCL_OVERLAY_PRIVATE_H__
#define __GST_CCL_OVERLAY_PRIVATE_H__

#include "base/gstcclminavgmax.h"
#include "overlay/gstcclcanvas.h"
#include "overlay/gstccldrawing.h"
#include "overlay/gstccloverlay.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_overlay_debug);

/* The way in which a drawing gets into the picture. */
typedef enum
{
  GST_CCL_OVERLAY_PATH_NONE,
  GST_CCL_OVERLAY_PATH_ATTACH,  /* downstream draws it */
  GST_CCL_OVERLAY_PATH_BLEND,   /* into the frame */
  GST_CCL_OVERLAY_PATH_CARRY,   /* neither is possible; an element further downstream may draw it */
} GstCclOverlayPath;

/* The properties. Written under the object lock; the streaming thread copies them once per frame. */
typedef struct
{
  GstCclDrawingStyle style;
  gchar *font;
  guint font_version;
  guint64 expire;
} GstCclOverlaySettings;

typedef struct
{
  guint64 frames, drawn, objects, pixels;
  GstCclMinAvgMax host;
} GstCclOverlayStats;

/* Parts of a drawing that need a setting of ccllabel. */
#define GST_CCL_OVERLAY_N_NEEDS 4

struct _GstCclOverlay
{
  GstBaseTransform parent;

  GstCclOverlaySettings settings;       /* under the object lock */
  GstCclOverlayStats stats;     /* under the object lock */
  GstCclOverlayPath path;       /* written under the object lock, by the streaming thread */

  /* Streaming thread. */
  gint is_refused;              /* atomic: downstream does not draw overlays */
  gint is_negotiated;           /* atomic: the path fits the current caps and the elements downstream */
  GstVideoInfo info;            /* width 0: the caps have no size */
  GstCclDrawing *drawing;
  guint font_version;
  GstCclCanvas *canvas;
  gboolean no_canvas;           /* no memory for one of this size; a warning was posted */
  GstBuffer *last;              /* the metadata that was drawn last, without memory */
  guint n_without_metas, n_without[GST_CCL_OVERLAY_N_NEEDS];    /* see gstcclhint.h */
};

/* gstccloverlaypath.c: whether downstream draws, or the element blends */
const gchar *gst_ccl_overlay_path_name (GstCclOverlayPath path);
/* The caps that the other pad can have. `is_refused`: downstream does not draw overlays. */
GstCaps *gst_ccl_overlay_other_caps (GstPadDirection direction, GstCaps * caps, gboolean is_refused);
void gst_ccl_overlay_choose_path (GstCclOverlay * self);
/* Blends the canvas into the buffer, or attaches it. Adds to `pixels`. FALSE: an error was posted. */
gboolean gst_ccl_overlay_put (GstCclOverlay * self, GstBuffer * buffer, guint64 * pixels);

/* gstccloverlayhints.c: `draw`, GST_CCL_DRAW_..., asks for more than the frames have */
void gst_ccl_overlay_give_hints (GstCclOverlay * self, GstBuffer * buffer, guint draw);
void gst_ccl_overlay_give_hints_at_end (GstCclOverlay * self);
void gst_ccl_overlay_reset_hints (GstCclOverlay * self);

G_END_DECLS

#endif
