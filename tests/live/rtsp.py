# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An RTSP camera plays on the live page, is lost, and returns. Needs Debian's gir1.2-gst-rtsp-server-1.0.

usage: rtsp.py SOURCE_FOLDER
       rtsp.py --serve PORT  (is the camera, until it is killed)
"""
import os
import socket
import subprocess
import sys
import unittest

import live

PROBE = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer"
CHAIN = ("( videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=320,height=240,framerate=15/1 ! jpegenc ! "
         "rtpjpegpay name=pay0 )")


def serve(port):
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtspServer
    Gst.init(None)
    server, factory = GstRtspServer.RTSPServer(service=port), GstRtspServer.RTSPMediaFactory()
    factory.set_launch(CHAIN)
    factory.set_shared(True)
    server.get_mount_points().add_factory("/yard", factory)
    server.attach(None)
    GLib.MainLoop().run()


class Rtsp(unittest.TestCase):
    def start(self):
        camera = subprocess.Popen([sys.executable, __file__, "--serve", str(self.port)])
        self.addCleanup(camera.wait)
        self.addCleanup(camera.kill)
        return camera

    def test_lost_and_returned(self):
        lacking = live.missing()
        if not lacking and subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False).returncode:
            lacking = "gir1.2-gst-rtsp-server-1.0"
        if lacking:
            self.skipTest(f"needs {lacking}")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        camera = self.start()
        server = live.Live(source, f"rtsp://127.0.0.1:{self.port}/yard")
        self.addCleanup(server.stop)
        server.wait(lambda: server.camera()["state"] == "playing" and server.camera()["objects"])
        camera.kill()
        lost = server.wait(lambda: server.camera()["state"] == "lost" and server.camera())
        self.assertTrue(lost["text"])
        self.assertIn("Next try in", lost["hint"])
        self.start()
        frames = lost["frames"]
        server.wait(lambda: server.camera()["state"] == "playing" and server.camera()["frames"] > frames)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    source = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
