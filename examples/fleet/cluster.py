# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where cameras run: in this process, or as actors of a Ray cluster. Ray places the actors, starts again those that die, and
moves those of a lost machine."""
from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import camera as one_camera
from settings import Camera

NAMESPACE = "ccl-fleet"
ANSWER_SECONDS = 5.0


class Place(Protocol):
    """Where a fleet runs."""

    def apply(self, cameras: list[Camera]) -> list[str]:
        """Starts what is missing, replaces what has other settings, stops what is no longer there. Returns what it did."""

    def states(self) -> dict[str, dict[str, Any]]:
        """The state of each camera by its name."""

    def stop(self) -> list[str]:
        """Ends all cameras; returns their names."""


class Local:
    """This machine, without Ray."""

    def __init__(self) -> None:
        self.cameras: dict[str, one_camera.Camera] = {}

    def apply(self, cameras: list[Camera]) -> list[str]:
        for camera in cameras:
            self.cameras[camera.name] = one_camera.Camera(dataclasses.asdict(camera), camera.digest())
        return [f"started {camera.name}" for camera in cameras]

    def states(self) -> dict[str, dict[str, Any]]:
        return {name: camera.state() for name, camera in self.cameras.items()}

    def stop(self) -> list[str]:
        for camera in self.cameras.values():
            camera.stopping.set()
        for camera in self.cameras.values():
            camera.stop()
        return list(self.cameras)


class Cluster:
    """A Ray cluster. The actors are detached: they go on when the program that started them ends."""

    def __init__(self, address: str) -> None:
        import ray
        self.ray = ray
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level="warning")

    def actors(self) -> dict[str, Any]:
        found = {}
        for name in self.ray.util.list_named_actors():
            try:
                found[name] = self.ray.get_actor(name)
            except ValueError:
                pass  # it has ended meanwhile
        return found

    def start(self, camera: Camera) -> None:
        actor = self.ray.remote(one_camera.Camera).options(
            name=camera.name, lifetime="detached", max_restarts=-1, max_task_retries=0, scheduling_strategy="SPREAD",
            num_cpus=camera.cpus, num_gpus=camera.gpus)
        actor.remote(dataclasses.asdict(camera), camera.digest())

    def apply(self, cameras: list[Camera]) -> list[str]:
        wanted = {camera.name: camera for camera in cameras}
        present, done = self.states(), []
        for name, state in present.items():
            if name not in wanted or state.get("digest") not in (None, wanted[name].digest()):
                self.end(name)
                done.append(f"stopped {name}")
        for name, camera in wanted.items():
            if name not in present or f"stopped {name}" in done:
                self.start(camera)
                done.append(f"started {name}")
        return done

    def states(self) -> dict[str, dict[str, Any]]:
        """A camera that does not answer is away: Ray is moving it, or has no place for it."""
        asked = {actor.state.remote(): name for name, actor in self.actors().items()}
        states = {name: {"name": name, "state": "away"} for name in asked.values()}
        if asked:
            for answer in self.ray.wait(list(asked), num_returns=len(asked), timeout=ANSWER_SECONDS)[0]:
                try:
                    states[asked[answer]] = self.ray.get(answer)
                except self.ray.exceptions.RayError:
                    pass
        return states

    def end(self, name: str) -> None:
        try:
            actor = self.ray.get_actor(name)
            self.ray.get(actor.stop.remote(), timeout=one_camera.STOP_SECONDS + 5)
        except (ValueError, self.ray.exceptions.RayError):
            pass  # ended or away
        try:
            self.ray.kill(self.ray.get_actor(name), no_restart=True)
        except ValueError:
            pass

    def stop(self) -> list[str]:
        names = list(self.actors())
        for name in names:
            self.end(name)
        return names
