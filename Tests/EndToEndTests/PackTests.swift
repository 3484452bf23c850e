import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Packing captures into one data set", .runsPrograms)
struct PackTests {
  /// Three captures of three families that are done.
  private static let output = Result { () throws -> TemporaryFolder in
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in")
    for (family, id, frames) in [
      ("stray-scanner", "a", 12), ("scannet", "b", 9), ("record3d", "c", 5),
    ] {
      try Program.synthesize(
        "\(family) --frames \(frames) --width 64 --height 48 --id \(id) --empty-room",
        to: input)
    }
    let result = try Program.run([
      "run", input.string, "--output", folder.path.appending("out").string, "-q",
    ])
    try #require(result.status == 0, "\(result.errors)")
    return folder
  }

  /// A copy of that output, and a place for data sets.
  private struct Scene {
    let folder = Result { try TemporaryFolder() }
    let output: FilePath

    init() throws {
      let place = try folder.get().path
      output = place.appending("out")
      try PackTests.output.get().path.appending("out").copy(to: output)
    }

    func dataset(_ name: String = "set") throws -> FilePath {
      try folder.get().path.appending(name)
    }

    func pack(
      _ words: String..., to format: String = "webdataset", into name: String = "set"
    ) throws -> Program.Result {
      try Program.run(
        ["pack", output.string, "--to", format, "--into", dataset(name).string] + words)
    }

    /// A capture `m` of 5 frames with masks that its pipeline keeps.
    func addMasked() throws {
      let place = try folder.get().path
      let pipeline = place.appending("masks.yaml")
      try pipeline.write(
        """
        schema: 1
        stages:
          color: {uses: decode-color}
          confidence: {uses: export-images, with: {stream: confidence}}
          masks: {uses: make-masks, needs: [color, confidence], with: {minimumConfidence: 2}}
          tables: {uses: export-tables, optional: [color, confidence]}
        """)
      try Program.synthesize(
        "stray-scanner --frames 5 --width 64 --height 48 --id m --empty-room",
        to: place.appending("masked"))
      let run = try Program.run([
        "run", place.appending("masked").string, "--output", output.string, "--pipeline",
        pipeline.string, "-q",
      ])
      try #require(run.status == 0, "\(run.errors)")
    }

    func bytes(_ file: String, in name: String = "set") throws -> Data {
      try dataset(name).appending(file).data()
    }

    func names(_ name: String = "set") throws -> [String] {
      try FileSystem.names(in: dataset(name))
        .filter { !$0.hasPrefix(".") }.sorted()
    }

    /// The names in a shard, by `tar`.
    func members(_ shard: String) throws -> [String] {
      let result = try Running(
        "/bin/tar", ["-tf", dataset().appending(shard).string]
      ).finish()
      #expect(result.status == 0, "\(result.errors)")
      return result.output.split(separator: "\n").map(String.init)
    }
  }

  @Test(
    "Every frame is a sample, its list tells where everything lies, and nothing is packed twice")
  func whole() throws {
    let scene = try Scene()
    let first = try scene.pack()
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.contains("26 samples of 3 captures"), "\(first.output)")
    // scannet records no confidence.
    #expect(first.output.contains("samples without: "), "\(first.output)")
    #expect(try scene.names() == ["README.txt", "all-000000.csv", "all-000000.tar", "index.json"])
    let named = try scene.pack("--with", "color,mask", into: "named")
    #expect(named.output.contains("samples without: mask 26\n"), "\(named.output)")
    let tar = try scene.bytes("all-000000.tar")
    let lines = String(decoding: try scene.bytes("all-000000.csv"), as: UTF8.self)
      .split(separator: "\n").map { $0.split(separator: ",").map(String.init) }
    #expect(lines.first == ["member", "capture", "offset_bytes", "bytes", "sha256"])
    for line in lines.dropFirst() {
      let (offset, count) = (try #require(Int(line[2])), try #require(Int(line[3])))
      #expect(Digest(of: tar[offset..<offset + count]).hex == line[4], "\(line)")
    }
    #expect(try scene.members("all-000000.tar") == lines.dropFirst().map { $0[0] })
    let published = try scene.output.appending("a/color/000003.png").data()
    let line = try #require(lines.first { $0[0] == "000003.color.png" })
    #expect(line[4] == Digest(of: published).hex)

    let again = try scene.pack()
    #expect(again.status == 0 && again.output.contains("0 written, 1 kept"), "\(again.output)")
    // The files of the copy changed after they were recorded and are compared; those of the original are believed.
    let original = try Self.output.get().path.appending("out").string
    let believed = try Program.run(
      ["pack", original, "--to", "webdataset", "--into", scene.dataset("other").string])
    #expect(believed.status == 0, "\(believed.errors)")
    for name in try scene.names() {
      #expect(try scene.bytes(name) == scene.bytes(name, in: "other"), "\(name)")
    }
  }

  @Test(
    "The library of each form reads what was published, holes included; h5py notices every mistake",
    .enabled(if: Readers.arePresent, "needs .build/readers"),
    arguments: [
      ("webdataset", "40kB", "packed.py"), ("hdf5", "400kB", "packed_hdf5.py"),
    ])
  func library(form: String, shard: String, reader: String) throws {
    let scene = try Scene()
    let input = try scene.folder.get().path.appending("in")
    let small = ["--width", "64", "--height", "48", "--empty-room"]
    try Program.synthesize(
      "multiscan --frames 12 --id d --fault short-video cut-depth \(small)", to: input)
    try Program.synthesize("arkit-scanner --frames 9 --id e \(small)", to: input)
    let run = try Program.run(["run", input.string, "--output", scene.output.string, "-q"])
    try #require(run.status <= 1, "\(run.errors)")
    try scene.addMasked()
    let packed = try scene.pack("--shard-size", shard, "--split", "every:4", to: form)
    #expect(packed.status == 0, "\(packed.errors)")
    let read = try Readers.packed(scene.dataset(), scene.output, by: reader)
    #expect(read.status == 0, "\(read.output)")
    #expect(packed.output.contains(read.output.split(separator: "\n").last.map(String.init) ?? "?"))
  }

  @Test(
    "HDF5 is the same in every call, goes on where one was killed, and is no other format's folder")
  func hdf5Bytes() throws {
    let scene = try Scene()
    #expect(try scene.pack("--shard-size", "30kB", to: "hdf5").status == 0)
    let names = try scene.names()
    let shards = names.filter { $0.hasSuffix(".h5") }
    #expect(shards.count > 2 && names == ["README.txt"] + shards + ["index.json"])
    // Another second, which no byte may tell of.
    Thread.sleep(forTimeInterval: 1.1)
    #expect(try scene.pack("--shard-size", "30kB", to: "hdf5", into: "other").status == 0)
    for name in names {
      #expect(try scene.bytes(name) == scene.bytes(name, in: "other"), "\(name)")
    }
    let last = try #require(shards.last)
    try scene.dataset().appending(last).move(to: scene.dataset().appending(last + ".part"))
    let again = try scene.pack("--shard-size", "30kB", to: "hdf5")
    #expect(again.output.contains("1 written, \(shards.count - 1) kept"), "\(again.output)")
    #expect(try scene.names() == names)
    let mixed = try scene.pack()
    #expect(mixed.status == 73 && mixed.errors.contains("another format"), "\(mixed.errors)")
  }

  @Test("Masks that a pipeline keeps are packed, and nothing is said of masks where there are none")
  func masks() throws {
    let scene = try Scene()
    try scene.addMasked()
    #expect(try scene.pack("--id", "m").status == 0)
    #expect(
      try scene.members("all-000000.tar").prefix(4) == [
        "000000.color.png", "000000.confidence.png", "000000.mask.png", "000000.json",
      ])
    #expect(String(decoding: try scene.bytes("README.txt"), as: UTF8.self).contains(".mask.png"))
    let other = try scene.pack("--id", "a", into: "other")
    #expect(other.status == 0 && !other.output.contains("mask"), "\(other.output)")
    #expect(
      String(decoding: try scene.bytes("README.txt", in: "other"), as: UTF8.self)
        .contains("mask") == false)
  }

  @Test("A killed call is gone on with, and what the set no longer has is removed")
  func resumed() throws {
    let scene = try Scene()
    #expect(try scene.pack("--shard-size", "20kB").status == 0)
    let names = try scene.names()
    let shards = names.filter { $0.hasSuffix(".tar") }
    #expect(shards.count > 3)
    let index = try scene.bytes("index.json")
    // As a call leaves it that is killed at the last shard.
    let last = try #require(shards.last)
    try scene.dataset().appending(last).move(to: scene.dataset().appending(last + ".part"))
    let again = try scene.pack("--shard-size", "20kB")
    #expect(again.output.contains("1 written, \(shards.count - 1) kept"), "\(again.output)")
    #expect(try scene.names() == names && scene.bytes("index.json") == index)

    let fewer = try scene.pack("--shard-size", "20kB", "--id", "a")
    #expect(fewer.status == 0 && !fewer.output.contains(" 0 removed"), "\(fewer.output)")
    #expect(try scene.names().count < names.count)
  }

  @Test(
    "A file that is not what was published is told, its sample is left out, and all others are packed"
  )
  func altered() throws {
    let scene = try Scene()
    let file = scene.output.appending("a/color/000003.png")
    var bytes = try file.data()
    bytes[bytes.count / 2] ^= 1
    try file.write(bytes)
    for _ in 0..<2 {
      let result = try scene.pack("--id", "a,b")
      #expect(
        result.status == 1 && result.errors.contains("a/color/000003.png")
          && result.errors.contains("run it again with --verify"), "\(result.errors)")
      #expect(result.output.contains("20 samples"), "\(result.output)")
      #expect(try !scene.members("all-000000.tar").contains { $0.hasPrefix("000003.") })
    }
    let arrays = try scene.pack("--id", "a", to: "hdf5", into: "h5")
    #expect(arrays.status == 1 && arrays.output.contains("11 samples"), "\(arrays.output)")
    try FileSystem.remove(scene.output.appending("b/color/000001.png"))
    let result = try scene.pack("--id", "b", into: "b")
    #expect(result.status != 0 && result.errors.contains("color"), "\(result.errors)")
  }

  @Test("Parts keep together what is to stay together, and are the same whatever else is packed")
  func parts() throws {
    let scene = try Scene()
    #expect(try scene.pack("--split", "every:4", "--with", "color").status == 0)
    // Frames 0, 4 and 8 of a and b, 0 and 4 of c; each with its JSON.
    #expect(try scene.members("val-000000.tar").count == 2 * 8)
    #expect(try scene.members("train-000000.tar").count == 2 * 18)
    func captures(_ name: String) throws -> [String: Set<String>] {
      var parts: [String: Set<String>] = [:]
      for file in try scene.names(name) where file.hasSuffix(".csv") {
        for line in String(decoding: try scene.bytes(file, in: name), as: UTF8.self)
          .split(separator: "\n").dropFirst()
        {
          let capture = String(line.split(separator: ",")[1])
          parts[capture, default: []].insert(String(file.prefix { $0 != "-" }))
        }
      }
      return parts
    }
    #expect(try scene.pack("--split", "capture", "--shares", "x=1,y=1", into: "all").status == 0)
    let all = try captures("all")
    #expect(all.count == 3 && all.values.allSatisfy { $0.count == 1 })
    let one = try scene.pack("--split", "capture", "--shares", "x=1,y=1", "--id", "b", into: "one")
    // The part that got nothing is told of, too.
    #expect(one.status == 0 && one.output.contains("  0 samples in 0 shards\n"), "\(one.output)")
    #expect(try captures("one")["b"] == all["b"])
  }

  @Test(
    "What cannot be right is refused",
    arguments: [
      (["--split", "every:1"], 64), (["--split", "blocks"], 64),
      (["--shares", "a=0", "--split", "capture"], 64), (["--shares", "a=1"], 64),
      (["--with", "colour"], 64), (["--shard-size", "huge"], 64), (["--id", "zzz"], 65),
      (["--state", "failed"], 65),
    ])
  func refused(words: [String], code: Int) throws {
    let scene = try Scene()
    let result = try Program.run(
      ["pack", scene.output.string, "--to", "webdataset", "--into", scene.dataset().string] + words)
    #expect(result.status == Int32(code), "\(result.errors)")
    #expect(try !FileSystem.exists(scene.dataset()))
  }

  @Test("Where no capture is done nothing is packed, and that is a failure, not a missing capture")
  func failed() throws {
    let scene = try Scene()
    let input = try scene.folder.get().path.appending("in")
    try Program.synthesize(
      "arkit-scanner --frames 6 --id z --width 64 --height 48 --empty-room", to: input)
    try input.appending("z/rgb.mp4").write("x")
    _ = try Program.run([
      "run", input.appending("z").string, "-o", scene.output.string, "-q", "--until", "tables",
    ])
    let result = try scene.pack("--id", "z")
    #expect(
      result.status == 1 && result.errors.contains("no capture here that matches is done"),
      "\(result.errors)")
    #expect(try !FileSystem.exists(scene.dataset()))
  }

  @Test("A folder of other files, and one in the output, are left alone")
  func places() throws {
    let scene = try Scene()
    let inside = try Program.run([
      "pack", scene.output.string, "--to", "webdataset", "--into",
      scene.output.appending("x").string,
    ])
    #expect(inside.status == 64, "\(inside.errors)")
    try FileSystem.makeFolder(scene.dataset())
    try scene.dataset().appending("notes.txt").write("mine")
    let other = try scene.pack()
    #expect(other.status == 73 && other.errors.contains("other files"), "\(other.errors)")
    #expect(try scene.names() == ["notes.txt"])
  }
}
