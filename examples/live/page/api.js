// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Requests to the server; an error has the server's own words.

// The cookie has the token now; the address in the history need not.
if (new URLSearchParams(location.search).has("token"))
  history.replaceState(null, "", location.pathname);

export class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? `The server says ${status}.`);
    this.status = status;
    this.body = body;
  }
}

export async function ask(method, path, body) {
  const options = {method};
  if (body !== undefined) {
    options.headers = {"Content-Type": "application/json"};
    options.body = JSON.stringify(body);
  } else if (method !== "GET") {
    options.headers = {"Content-Type": "application/json"};
  }
  const answer = await fetch(path, options);
  const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
  const content = isJson ? await answer.json() : {};
  if (!answer.ok)
    throw new Refused(answer.status, content);
  return content;
}
