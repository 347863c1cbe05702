# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recordings: the pipeline of a camera over each of its files, here or as tasks of a Ray cluster.

The name of a result has two digests: one of the recording's path and the camera's name, one of what the rows depend on (size,
time of the last change, settings). A result that is there is not made again, so a call that was stopped goes on with the next. A
task that Ray starts twice replaces its own result, and a new result of a recording removes the older one.
"""
from __future__ import annotations

import concurrent.futures
import dataclasses
import glob
import hashlib
import json
import os
import pathlib
import time
from typing import Any, Iterator

from camera import Child
from settings import Camera, shard_of

SILENCE_SECONDS = 120.0  # without a line, after which a recording has failed
OLD_SECONDS = 3600.0  # a part of a result that is older belongs to a call that is gone
IN_FLIGHT = 64  # tasks that wait in Ray, for each that runs


@dataclasses.dataclass(frozen=True)
class Job:
    """A recording that is to be analysed."""

    key: str
    path: str
    camera: dict[str, Any]
    folder: str
    outdated: tuple[str, ...] = ()  # results of the same recording before it or its camera changed

    @property
    def result(self) -> pathlib.Path:
        return pathlib.Path(self.folder) / f"{self.key}.parquet"

    @property
    def failure(self) -> pathlib.Path:
        return pathlib.Path(self.folder) / "_failed" / f"{self.key}.json"


def digest_of(camera: Camera) -> str:
    """Of what changes the rows: not of source, sink or resources."""
    kept = {name: value for name, value in dataclasses.asdict(camera).items()
            if name in ("name", "elements", "zones", "width", "height", "rate")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def digest_of_text(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def key_of(path: str, name: str, settings: str) -> str:
    status = os.stat(path)
    return f"{digest_of_text(path, name)}-{digest_of_text(status.st_size, status.st_mtime_ns, settings)}"


def jobs_of(cameras: list[Camera], folder: str) -> list[Job]:
    """Each recording of each camera once, though several patterns or links may lead to it."""
    present: dict[str, list[str]] = {}
    for result in pathlib.Path(folder).glob("*-*.parquet"):
        present.setdefault(result.stem.split("-")[0], []).append(result.stem)
    jobs: dict[str, Job] = {}
    for camera in cameras:
        settings = digest_of(camera)
        for pattern in camera.recordings:
            for path in sorted(glob.glob(os.path.expanduser(pattern), recursive=True)):
                real = os.path.realpath(path)
                if os.path.isfile(real):
                    key = key_of(real, camera.name, settings)
                    others = tuple(other for other in present.get(key.split("-")[0], ()) if other != key)
                    jobs[key] = Job(key, real, dataclasses.asdict(camera), folder, others)
    return list(jobs.values())


def remove_outdated(job: Job) -> None:
    for key in job.outdated:
        (pathlib.Path(job.folder) / f"{key}.parquet").unlink(missing_ok=True)


def fail(job: Job, reason: str) -> dict[str, Any]:
    job.failure.parent.mkdir(exist_ok=True)
    found = {"file": job.path, "camera": job.camera["name"], "reason": reason}
    part = job.failure.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(found), "utf-8")
    os.replace(part, job.failure)
    return found


def read_child(child: Child, table: Any) -> tuple[str, int]:
    """The reason of its end, and its frames."""
    heard = time.monotonic()
    while not child.closed:
        for line in child.lines(1.0):
            heard = time.monotonic()
            if line.startswith(b'{"end"'):
                said = json.loads(line)
                return said["end"], said.get("frames", 0)
            table.take(line)
        if time.monotonic() - heard > SILENCE_SECONDS:
            return f"no frame for {SILENCE_SECONDS:.0f} s", 0
    return "", 0


def analyse(job: Job) -> dict[str, Any]:
    """One recording in a child process. Returns its rows and frames, or the reason why it failed."""
    from rows import Table  # pyarrow, which cameras do not need
    table = Table(pathlib.Path(job.folder), job.key, job.camera["name"], job.path)
    child = Child({"mode": "recording", "camera": job.camera, "path": job.path})
    try:
        reason, frames = read_child(child, table)
        if not reason:
            reason = child.status()
        elif reason == "end of stream" and key_of(job.path, job.camera["name"], digest_of_job(job)) != job.key:
            reason = "it changed while it was read"
        if reason != "end of stream":
            return fail(job, reason)
        table.finish({"file": job.path, "camera": job.camera["name"], "frames": frames, "rows": table.n_rows})
        remove_outdated(job)
        job.failure.unlink(missing_ok=True)
        return {"file": job.path, "frames": frames, "rows": table.n_rows}
    except OSError as error:
        return fail(job, str(error))
    finally:
        table.discard()
        child.kill()
        child.status()


def digest_of_job(job: Job) -> str:
    return digest_of(Camera(**{**job.camera, "recordings": tuple(job.camera["recordings"])}))


def run_here(jobs: list[Job], workers: int) -> Iterator[dict[str, Any]]:
    pool = concurrent.futures.ThreadPoolExecutor(workers)
    try:
        yield from (future.result() for future in concurrent.futures.as_completed([pool.submit(analyse, job) for job in jobs]))
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C; what runs is finished


def run_on_ray(jobs: list[Job], address: str) -> Iterator[dict[str, Any]]:
    import ray
    ray.init(address=address, log_to_driver=False, logging_level="warning")
    limit = IN_FLIGHT * max(1, int(ray.cluster_resources().get("CPU", 1)))
    waiting, running = list(reversed(jobs)), {}
    while waiting or running:
        while waiting and len(running) < limit:
            job = waiting.pop()
            task = ray.remote(analyse).options(num_cpus=1, num_gpus=job.camera["gpus"], max_retries=5)
            running[task.remote(job)] = job
        for ended in ray.wait(list(running), num_returns=1)[0]:
            job = running.pop(ended)
            try:
                yield ray.get(ended)
            except ray.exceptions.RayError as error:
                yield fail(job, f"Ray: {str(error).splitlines()[0]}")


def remove_old_parts(folder: pathlib.Path) -> None:
    for part in folder.glob(".*.part"):
        try:
            if time.time() - part.stat().st_mtime > OLD_SECONDS:
                part.unlink()
        except FileNotFoundError:
            pass  # it was finished meanwhile


def progress(results: Iterator[dict[str, Any]], n_jobs: int, n_done: int) -> Iterator[dict[str, Any]]:
    from tqdm import tqdm
    return iter(tqdm(results, total=n_jobs, initial=n_done, unit="file", mininterval=1))


def run(cameras: list[Camera], folder: str, address: str | None, shard: str | None, retry: bool) -> bool:
    """Analyses what has no result yet, and says what failed. False if something did, or if there is no recording."""
    index, n_shards = shard_of(shard) if shard else (0, 1)
    place = pathlib.Path(folder).absolute()
    place.mkdir(parents=True, exist_ok=True)
    remove_old_parts(place)
    jobs = [job for job in jobs_of(cameras, str(place)) if int(job.key.split("-")[0], 16) % n_shards == index]
    for job in jobs:
        if job.result.exists():
            remove_outdated(job)
    left = [job for job in jobs if not job.result.exists() and (retry or not job.failure.exists())]
    rows = frames = 0
    results = run_on_ray(left, address) if address else run_here(left, os.cpu_count() or 1)
    for result in progress(results if left else iter(()), len(jobs), len(jobs) - len(left)):
        rows += result.get("rows", 0)
        frames += result.get("frames", 0)
    failures = [json.loads(job.failure.read_text("utf-8")) for job in jobs if job.failure.exists()]
    print(f"{len(jobs)} recordings: {len(left)} analysed now with {frames} frames and {rows} rows, "
          f"{len(jobs) - len(left)} before; {len(failures)} failed")
    for failure in failures:
        print(f"{failure['file']}: {failure['reason']}")
    return bool(jobs) and not failures
