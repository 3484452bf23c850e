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

  @Test("An output that is a symbolic link is followed; a link inside it is refused and left alone")
  func links() throws {
    let scene = try Scene("a", "b")
    let elsewhere = scene.folder.path.appending("elsewhere")
    try FileSystem.makeFolder(elsewhere.appending("disk"))
    symlink(elsewhere.string, scene.output.string)
    symlink(elsewhere.appending("disk").string, elsewhere.appending("a").string)
    let result = try scene.run()
    #expect(result.status == 73)
    #expect(result.errors.contains("out/a"))
    #expect(try FileSystem.names(in: elsewhere.appending("disk")) == [])
    #expect(FileSystem.isLink(elsewhere.appending("a")))
    #expect(try scene.digests("elsewhere")["b/color"] != nil)
    try FileSystem.remove(elsewhere.appending("a"))
    try scene.run().succeeds()
    #expect(try scene.run(to: "elsewhere").errors.contains("nothing to do"))
    #expect(scene.leftovers() == [])
  }

  @Test("A clock that was set back and times that were touched decide nothing; contents do")
  func clock() throws {
    let scene = try Scene("a")
    try scene.run().succeeds()
    // As after a clock set back: results from the future, inputs from any time.
    for (place, time) in [(scene.output, "2040-01-01"), (scene.input, "1999-01-01")] {
      try Running(
        "/usr/bin/find", [place.string, "-exec", "touch", "-d", time, "{}", "+"], in: nil
      ).finish().succeeds()
    }
    #expect(try scene.run().errors.contains("nothing to do"))
    // Other content under the same name, size and time.
    let imu = scene.file("a.imu")
    var bytes = try imu.data()
    let last = bytes.count - 1
    bytes[last] ^= 1
    try imu.write(bytes)
    _ = try Running("/usr/bin/touch", ["-d", "1999-01-01", imu.string], in: nil).finish()
    let plan = try scene.run("-n -v")
    #expect(plan.output.contains("imu: run, input-changed"))
    #expect(plan.output.contains("color: up-to-date"))
  }
}
