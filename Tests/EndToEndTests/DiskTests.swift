import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Places that cannot take the results, and places that are not what they seem", .runsPrograms)
struct DiskTests {
  /// Runs a shell script in name spaces of its own, where it may mount.
  static func isolated(_ script: String) throws -> Program.Result {
    try Running("/usr/bin/unshare", ["-Urm", "sh", "-c", script], in: nil).finish()
  }

  static let canMount: Bool = {
    let folder = try? TemporaryFolder()
    let place = folder?.path.string ?? "/nowhere"
    let isDone = (try? isolated("mount -t tmpfs -o size=1m tmpfs \(place)").status) == 0
    if !isDone { print("skipped: this machine lets nobody mount a small disk (unshare -Urm)") }
    return isDone
  }()

  @Test(
    "A full disk fails the job with what it would have needed; what is published stays",
    .enabled(if: canMount, "needs a user name space with mounts"))
  func full() throws {
    let scene = try Scene("a", frames: 60)
    try FileSystem.makeFolder(scene.output)
    let listing = scene.folder.path.appending("listing")
    let result = try Self.isolated(
      """
      mount -t tmpfs -o size=3m tmpfs \(scene.output)
      \(Program.path) run \(scene.input) --output \(scene.output); code=$?
      find \(scene.output)/a -maxdepth 1 > \(listing)
      exit $code
      """)
    #expect(result.status == 73)
    #expect(result.output.hasPrefix("a failed "))
    #expect(result.errors.contains("no space left"))
    #expect(result.errors.contains("are needed"))
    let places = try listing.text()
    // Small tables find room when pictures do not.
    #expect(places.contains("/a/imu\n"))
    #expect(!places.contains(".staging"))
  }

  @Test(
    "A disk that fills up while a stage writes stops it short of the last byte",
    .enabled(if: canMount, "needs a user name space with mounts"))
  func filling() throws {
    let scene = try Scene("a")
    try FileSystem.makeFolder(scene.output)
    let pipeline = try scene.pipeline(
      """
        imu: {uses: match-imu}
        big:
          uses: command
          needs: {source: imu}
          with: {command: [sh, -c, "head -c 100000000 /dev/zero > {output}/x"]}
      """)
    let result = try Self.isolated(
      """
      mount -t tmpfs -o size=4m tmpfs \(scene.output)
      \(Program.path) run \(scene.input) --output \(scene.output) --pipeline \(pipeline)
      """)
    #expect(result.status == 73)
    #expect(result.output == "a failed 1/2 cause=machine\n")
  }

  @Test(
    "An output that cannot be written at all is exit 73, with the path",
    arguments: ["read-only", "a file", "inside a file"])
  func unwritable(kind: String) throws {
    let scene = try Scene("a")
    let result: Program.Result
    switch kind {
    case "read-only":
      // Nobody, root included, makes folders in /proc.
      result = try Program.run("run \(scene.input) --output /proc/scanmill")
    case "a file":
      try scene.output.write("")
      result = try scene.run()
    default:
      try scene.output.write("")
      result = try scene.run(to: "out/inner")
    }
    #expect(result.status == 73)
    #expect(result.errors.contains(kind == "read-only" ? "/proc/scanmill" : scene.output.string))
  }
}
