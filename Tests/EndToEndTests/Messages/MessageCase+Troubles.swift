import Foundation
@testable import Core
import SystemPackage
import TestSupport

extension MessageCase {
  /// Captures that are damaged or not whole.
  static let captures: [MessageCase] = [
    MessageCase("warning: missing-file ×1 (a.h264): a.h264 is missing…", 0, "missing=.h264") {
      try $0.remove("in/a/a.h264")
      return try $0.run("--until color --until imu")
    },
    MessageCase("upload      incomplete: a.h264 is missing", 0, "a.h264 is missing") {
      try $0.remove("in/a/a.h264")
      return try $0.program("inspect in/a")
    },
    MessageCase("input: …a.depth, record 0, byte …", 1, "copy the file again") {
      $0.cut("in/a/a.depth", to: 60_000)
      return try $0.run("--until depth")
    },
    MessageCase(
      "input: …a.depth, record 0, byte 0: no whole depth frame…starts here…", 1,
      "copy the file again"
    ) {
      try $0.write(String(repeating: "no depth ", count: 600), "in/a/a.depth")
      return try $0.run("--until depth")
    },
    MessageCase(
      "input: …a.h264, byte 0: no start code of an H.264 stream…", 1,
      "check that it is a bare stream"
    ) {
      try $0.write(String(repeating: "no video ", count: 600), "in/a/a.h264")
      return try $0.run("--until color")
    },
    MessageCase(
      "not made: export-colmap, no poses: …", 1, "not-possible 6/6 not-made=export-colmap note="
    ) {
      try $0.run("--export colmap")
    },
    MessageCase(
      "input: imu.timeOffset is auto, and the time offset is not determined: …", 1,
      "set imu.timeOffset to a duration"
    ) {
      try $0.run("--until imu --set imu.timeOffset=auto")
    },
    MessageCase("input: --strict: there …", 1, "run without it") {
      try $0.remove("in/a/a.h264")
      return try $0.run("--strict --until imu")
    },
    MessageCase(
      "machine: …a.h264: cannot be read: input-changed: the file changed while the stage read it…",
      1, "run again once the upload has settled"
    ) { place in
      // As others have it.
      try Program.synthesize(
        "scannet --frames 120 --seed 5 --width 324 --height 242 --id a",
        to: place.path.appending("large"))
      let run = try place.start(
        "run large/a -o out --until color --set color.compression=compact")
      try place.wait("the stage") { place.hasStarted("color") }
      // Its worker stands still while the file grows: the stage cannot be over before.
      let workers = Processes.children(of: run.process.processIdentifier)
      for worker in workers { kill(worker, SIGSTOP) }
      try place.append("more\n", "large/a/a.h264")
      for worker in workers { kill(worker, SIGCONT) }
      return try run.finish()
    },
    MessageCase("not processed, quarantined (input): a", 0, "a skipped 0/0") { place in
      try place.pipeline("  depth-frames: {uses: decompress-depth}")
      place.cut("in/a/a.depth", to: 60_000)
      let watched = try place.program(
        "watch in -o out --once --settle 1s --attempts 1 --pipeline p.yaml")
      guard watched.status == 1 else { return watched }
      return try place.program("run in -o out --pipeline p.yaml")
    },
  ]

  private static let slow = """
      slow: {uses: command, with: {command: [sh, -c, "sleep 300; ls > {output}/x"]}}
    """

  /// Runs that are stopped, held up, or left without what they need.
  static let runs: [MessageCase] = [
    MessageCase("note: …run.json is damaged: …", 0, "restore the file") { place in
      for run in try HeldFolder.following(place.path.pushing("done/runs")).list() {
        place.cut("done/runs/\(run.name)/run.json", to: 40)
      }
      return try place.program("status done")
    },
    MessageCase("error: …: scanmill watch (process …) already watches for this output", 75, "out") {
      place in
      let first = try place.start("watch in -o out")
      let lock = place.path.appending("out/.scanmill/watch.lock")
      // The lock is taken before its holder is written into it.
      try place.wait("the watcher") {
        FileLock.isHeld(at: lock) && FileLock.holder(of: lock)?.isEmpty == false
      }
      let second = try place.program("watch in -o out")
      _ = try first.stop()
      return second
    },
    MessageCase("1 capture: 1 interrupted …", 130, "interrupted") { place in
      try place.pipeline(slow)
      let run = try place.start("run in/a -o out --pipeline p.yaml --grace 1s")
      try place.wait("the slow stage") { place.hasStarted("slow") }
      kill(run.process.processIdentifier, SIGINT)
      return try run.finish()
    },
    MessageCase(
      "program: …its worker process was ended by SIGSEGV while it ran slow…", 70, "please report it"
    ) { place in
      try place.pipeline(slow)
      let run = try place.start("run in/a -o out --pipeline p.yaml")
      try place.wait("the slow stage") { place.hasStarted("slow") }
      for worker in Processes.children(of: run.process.processIdentifier) { kill(worker, SIGSEGV) }
      return try run.finish()
    },
    MessageCase("program: the worker used … of memory, but its limit is …", 1, "raise --memory") {
      try $0.run("--memory 1MB")
    },
    MessageCase("program: …took longer than its timeout of 1s…", 1, "timeout") { place in
      try place.pipeline(
        "  slow: {uses: command, timeout: 1s, with: {command: [sh, -c, \"sleep 300\"]}}")
      return try place.run("--pipeline p.yaml")
    },
    MessageCase("program: sh exited with code 3; its last lines:", 1, "log ") { place in
      try place.pipeline(
        "  mine: {uses: command, with: {command: [sh, -c, \"echo no table; exit 3\"]}}")
      return try place.run("--pipeline p.yaml")
    },
    MessageCase(
      "program: no-such-program: cannot be started: no such program in PATH…", 1, "install it"
    ) { place in
      try place.pipeline("  mine: {uses: command, with: {command: [no-such-program]}}")
      return try place.run("--pipeline p.yaml")
    },
    MessageCase(
      "machine: …no space left…", 73, "free some space", if: { DiskTests.canMount }
    ) { place in
      let output = place.path.appending("out")
      try FileSystem.makeFolder(output)
      return try DiskTests.isolated(
        "mount -t tmpfs -o size=200k tmpfs \(output); "
          + "\(Program.path) run \(place.path.appending("in")) --output \(output)")
    },
    MessageCase("error: standard output: …: the result is not complete there", 73, "not complete") {
      place in
      try Running(
        "/bin/sh", ["-c", "\(Program.path) list families > /dev/full"], in: place.path
      ).finish()
    },
    MessageCase("error: scontrol is not in PATH…", 78, "where the commands of Slurm are") { place in
      var environment = ProcessInfo.processInfo.environment
      environment["PATH"] = "/nowhere"
      return try Program.run(
        "run in/a -o out --executor slurm", in: place.path, environment: environment)
    },
    MessageCase(
      "error: the batch system does not answer …", 75, "run the same command again",
      if: { PythonScript.isPresent }
    ) { place in
      try place.write(
        "schema: 1\nexecutor: slurm\nslurm: {memory: 2GB, time: 10m, patience: 1s}\n", "lab.yaml")
      let slurm = try FakeSlurm(#"{"down": {"seconds": 0.1}}"#)
      return try Program.run(
        "run in/a -o out --profile lab.yaml", in: place.path, environment: slurm.environment)
    },
  ]
}
