import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Trouble of a night: nothing is lost, nothing is done twice, and it is told", .runsPrograms)
struct WatchTroubleTests {
  /// A stage that leaves its mark at its beginning and at its end, and takes its time in between.
  private static func slow(_ folder: String, seconds: Double, _ marker: String) -> String {
    """
      imu: {uses: match-imu}
      count:
        uses: command
        needs: {source: imu}
        with:
          command: [sh, -c, "echo begun >> \(folder)/begun; sleep \(seconds); echo x > {output}/x; echo ran >> \(folder)/ran"]
          environment: ["\(marker)"]
    """
  }

  @Test(
    "A watcher that is killed leaves no worker; the next one carries on, and what was done is not done again"
  )
  func killed() throws {
    let marker = "SCANMILL_TEST_MARKER=\(UUID().uuidString)"
    let scene = try WatchScene("  imu: {uses: match-imu}")
    try Data(
      "schema: 1\nstages:\n\(Self.slow(scene.folder.path.string, seconds: 1, marker))\n".utf8
    ).write(to: URL(filePath: scene.pipeline))
    for name in ["a", "b", "c", "d"] { try scene.put(name) }
    var watcher = try scene.start("-j 1")
    try scene.wait("two captures") { scene.ran >= 2 }
    watcher.signal(SIGKILL)
    #expect(try watcher.finish().status == -SIGKILL)
    try scene.wait("the end of its workers") { Processes.marked(marker).isEmpty }
    watcher = try scene.start("-j 1")
    try scene.wait("all") { ["a", "b", "c", "d"].allSatisfy { scene.isDone($0) } }
    try scene.wait("rest") { scene.waiting == [:] }
    #expect(try watcher.stop().status == 143)
    // The one that was cut off may have run to its last line without being published.
    #expect((4...5).contains(scene.ran))
    Processes.expectNone(marker)
  }

  @Test(
    "A capture that went before it was done has disappeared, which is told once; one that was renamed has not"
  )
  func lost() throws {
    let scene = try WatchScene()
    let a = try scene.put("a")
    let b = try scene.put("b", as: "incoming/b")
    for place in [a, b] {
      let camera = try FileSystem.names(in: place).first { $0.hasSuffix(".camera") } ?? ""
      try FileSystem.remove(place.appending(camera))
    }
    let watcher = try scene.start()
    try scene.wait("both") { scene.waiting == ["a": "incomplete", "b": "incomplete"] }
    try FileSystem.remove(a)
    try b.removingLastComponent().move(to: scene.staging.appending("here"))
    try scene.wait("the loss") {
      scene.waiting == ["b": "incomplete"] && scene.record["disappearedTotal"] as? Int == 1
    }
    let ended = try watcher.stop()
    #expect(ended.status == 143)
    #expect(ended.errors.contains("a disappeared from STAGING"), "\(ended.errors)")
    // The next watcher tells it no more, and ends with what needs somebody.
    let next = try scene.once("--exit-code")
    #expect(next.status == 1)
    #expect(!next.errors.contains("disappeared"))
    #expect(scene.waiting == ["b": "incomplete"])
    let gone = try #require(scene.record.objects("disappeared").first)
    #expect(gone["id"] as? String == "a")
  }

  @Test(
    "STAGING unmounted is told and changes nothing; mounted again, work goes on",
    .enabled(if: DiskTests.canMount, "needs a user name space with mounts"))
  func unmounted() throws {
    let scene = try WatchScene()
    let disk = scene.folder.path.appending("disk")
    try FileSystem.makeFolder(disk)
    for name in ["a", "b"] {
      let made = try scene.make(name)
      try made.move(to: disk.appending(name))
    }
    let late = try scene.make("c")
    try FileSystem.remove(disk.appending("b").appending("b.camera"))
    let result = try scene.isolated(
      """
      mount --bind '\(disk)' "$S"
      start --metrics "$M"
      until_ test -e "$O/a/count/artifact.json"
      until_ says incomplete
      until_ umount "$S"
      until_ says 'is its disk mounted'
      says incomplete || echo "b was forgotten"
      says '"gone"' && echo "b was lost"
      mount --bind '\(disk)' "$S"
      until_ silent 'is its disk mounted'
      mv '\(late)' "$S/c"
      until_ test -e "$O/c/count/artifact.json"
      until_ umount "$S"
      until_ says 'is its disk mounted'
      stop
      start --metrics "$M"
      until_ silent '"ended"'
      looks 3
      says 'is its disk mounted' || echo "the next watcher takes an empty folder for a night without captures"
      says incomplete || echo "b was forgotten by the next watcher"
      stop
      """)
    #expect(result.output == "ended 143\nended 143\n")
    #expect(scene.ran == 2)
  }

  @Test(
    "With the disk of the output full nothing is started and nothing marked failed; with room again, work goes on",
    .enabled(if: DiskTests.canMount, "needs a user name space with mounts"))
  func full() throws {
    let scene = try WatchScene()
    try scene.put("a")
    try FileSystem.makeFolder(scene.output)
    let result = try scene.isolated(
      """
      mount -t tmpfs -o size=4m tmpfs "$O"
      mkdir -p "$O/.scanmill"
      head -c 4100000 /dev/zero > "$O/filler"
      start --metrics "$M"
      until_ says '"disk"'
      says queued || echo "not queued"
      test -e "$O/a" && echo "something was started"
      rm "$O/filler"
      until_ test -e "$O/a/count/artifact.json"
      until_ silent queued
      test -e "$O/a/.scanmill/triage.json" && echo "marked as failed"
      stop
      """)
    #expect(result.output == "ended 143\n")
    #expect(scene.ran == 1)
    #expect(result.errors.contains("the disk of the output is full"))
  }

  @Test(
    "An output that becomes read-only holds everything back, and is told",
    .enabled(if: DiskTests.canMount, "needs a user name space with mounts"))
  func readOnly() throws {
    let scene = try WatchScene()
    let late = try scene.make("a")
    try FileSystem.makeFolder(scene.output)
    let result = try scene.isolated(
      """
      mount -t tmpfs -o size=40m tmpfs "$O"
      start --metrics "$M"
      until_ says known
      mount --bind "$O" "$O"
      # Busy while the watcher writes its record.
      until_ mount -o remount,bind,ro "$O" 2> "$S/../busy"
      mv '\(late)' "$S/a"
      looks 5
      test -e "$O/a" && echo "something was written"
      until_ umount "$O"
      until_ test -e "$O/a/count/artifact.json"
      test -e "$O/a/.scanmill/triage.json" && echo "marked as failed"
      stop
      """)
    #expect(result.output == "ended 143\n")
    #expect(scene.ran == 1)
    #expect(result.errors.lowercased().contains("read-only"))
  }

  /// A library that shifts the wall clock of a program by what a file says. `nil` where it cannot be made.
  private static let clockShifter: String? = {
    guard let folder = try? TemporaryFolder() else { return nil }
    shifterFolder = folder
    let source = folder.path.appending("clock.c").string
    let library = folder.path.appending("clock.so").string
    let text = """
      #define _GNU_SOURCE
      #include <stdio.h>
      #include <stdlib.h>
      #include <sys/syscall.h>
      #include <time.h>
      #include <unistd.h>
      int clock_gettime(clockid_t id, struct timespec *t) {
        int code = syscall(SYS_clock_gettime, id, t);
        if (code == 0 && id == CLOCK_REALTIME) {
          FILE *f = fopen(getenv("CLOCK_OFFSET_FILE"), "r");
          long offset = 0;
          if (f) { if (fscanf(f, "%ld", &offset) != 1) offset = 0; fclose(f); }
          t->tv_sec += offset;
        }
        return code;
      }
      time_t time(time_t *out) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        if (out) *out = t.tv_sec;
        return t.tv_sec;
      }
      """
    try? FilePath(source).write(text)
    let made = try? Running(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-o", library, source], in: nil
    ).finish()
    if made?.status == 0 { return library }
    print("skipped: no C compiler here to make a clock that can be set (\(made?.errors ?? ""))")
    return nil
  }()
  nonisolated(unsafe) private static var shifterFolder: TemporaryFolder?

  @Test(
    "A clock set back by an hour, or forward, moves nothing: rest and pauses go by our own clock",
    .enabled(
      if: DiskTests.canMount && clockShifter != nil, "needs a C compiler and a user name space"))
  func clock() throws {
    let scene = try WatchScene()
    let library = try #require(Self.clockShifter)
    let offset = scene.folder.path.appending("offset")
    try offset.write("0")
    let first = try scene.make("a")
    let second = try scene.make("b")
    let result = try scene.isolated(
      """
      export CLOCK_OFFSET_FILE='\(offset)'
      export LD_PRELOAD='\(library)'
      start --metrics "$M" --settle 5s
      unset LD_PRELOAD
      until_ says known
      mv '\(first)' "$S/a"
      until_ says arriving
      echo "-3600" > '\(offset)'
      until_ test -e "$O/a/count/artifact.json"
      echo "7200" > '\(offset)'
      mv '\(second)' "$S/b"
      until_ test -e "$O/b/count/artifact.json"
      looks 3
      stop
      """)
    #expect(result.output == "ended 143\n")
    #expect(scene.ran == 2)
  }
}
