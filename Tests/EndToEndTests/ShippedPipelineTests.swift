import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The pipelines that come with the program, on a capture", .runsPrograms)
struct ShippedPipelineTests {
  @Test(
    "Each makes what it says",
    arguments: [
      ("default", ["aligned", "color", "depth", "imu", "preview", "tables"]),
      ("preview", ["aligned", "previews"]),
      (
        "time-offset",
        ["aligned", "color", "depth", "imu", "preview", "tables", "time-offset"]
      ),
      ("quality", ["aligned", "color", "depth", "imu", "preview", "quality", "tables"]),
      ("point-cloud", ["clouds", "color-on-depth"]),
      ("benchmark", ["aligned", "color", "depth", "imu", "tables"]),
    ])
  func folders(name: String, stages: [String]) throws {
    let scene = try Scene("a")
    try scene.run("--pipeline \(name)").succeeds()
    let made = try FileSystem.names(in: scene.output.appending("a"))
      .filter { !$0.hasPrefix(".") && $0 != "capture.json" }
    #expect(made == stages)
    #expect(try scene.run("--pipeline \(name)").errors.contains("nothing to do"))
    if name == "point-cloud" {
      // Of intermediates a plan says nothing.
      let plan = try scene.run("--pipeline point-cloud -n -R clouds").output
      #expect(plan.contains("clouds (forced)\n") && !plan.contains("depth-frames"), "\(plan)")
    }
  }

  @Test("What one makes, no other makes again or takes back")
  func together() throws {
    let scene = try Scene("a")
    var made: [String: Data] = [:]
    for name in [
      "default", "quality", "time-offset", "point-cloud", "preview", "exports", "default",
    ] {
      let result = try scene.run("--pipeline \(name)")
      #expect(result.status == 0, "\(name): \(result.errors)")
      for (stage, record) in made {
        #expect(try Self.records(scene)[stage] == record, "\(name): \(stage)")
      }
      made = try Self.records(scene)
      #expect(made["color"] != nil && made["preview"] != nil)
    }
    #expect(try scene.run().errors.contains("nothing to do"))
  }

  /// The records of what is published, by stage: they tell when it was made.
  private static func records(_ scene: Scene) throws -> [String: Data] {
    let folder = scene.output.appending("a")
    return try FileSystem.names(in: folder).reduce(into: [:]) { records, stage in
      records[stage] = folder.appending("\(stage)/artifact.json").contents
    }
  }

  @Test("The same kind of stage twice, with other parameters, in one pipeline")
  func twice() throws {
    let scene = try Scene("a")
    let pipeline = try scene.pipeline(
      """
        near: {uses: decompress-depth, with: {range: 0m..2m}}
        far: {uses: decompress-depth, with: {range: 2m..9m}}
        near-pictures: {uses: export-images, needs: [near]}
        far-pictures: {uses: export-images, needs: [far]}
      """)
    #expect(try scene.run("--pipeline \(pipeline)").output == "a made 4/4\n")
    let digests = try scene.digests()
    #expect(digests["a/near-pictures"] != digests["a/far-pictures"])
  }

  @Test("An external program's results are published, and only its own changes run it again")
  func command() throws {
    let scene = try Scene("a")
    let script = scene.folder.path.appending("count.sh")
    func pipeline(_ suffix: String) throws -> String {
      try scene.pipeline(
        """
          color: {uses: decode-color}
          depth: {uses: export-images}
          count:
            uses: command
            needs: {pictures: color}
            with:
              command: [sh, \(script), "{input:pictures}", "{output}/count \(suffix).txt", "{{}}"]
              files: [\(script)]
        """)
    }
    try OutputFile.write(
      Array("ls $1/*.png | wc -l > \"$2\"; echo \"$3\" >> \"$2\"".utf8), to: script)
    #expect(try scene.run("--pipeline \(pipeline("a"))").output == "a made 3/3\n")
    let file = scene.output.appending("a/count/count a.txt")
    let text = try MappedFile(file).withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
    #expect(text == "12\n{}\n")
    #expect(try scene.run("--pipeline \(pipeline("a"))").errors.contains("nothing to do"))
    #expect(
      try scene.run("--pipeline \(pipeline("b")) -n -v").output
        .contains("count: run, parameters"))
    // Its input, by content only.
    let every = try scene.run("--pipeline \(pipeline("a")) --set color.every=2 -n -v")
    #expect(every.output.contains("count: run, input-rebuilt"))
    #expect(every.output.contains("depth: up-to-date"))
    try OutputFile.write(Array("echo new > \"$2\"".utf8), to: script)
    #expect(
      try scene.run("--pipeline \(pipeline("a")) -n -v").output
        .contains("count: run, input-changed"))
  }

  @Test("A program that writes nothing, or into places of others, has failed")
  func badCommands() throws {
    let scene = try Scene("a")
    for (script, text) in [
      ("true", "wrote nothing into {output}"),
      ("ln -s /etc/passwd {output}/x", "is a symbolic link"),
      ("echo 1 > {output}/artifact.json", "is written by the engine"),
      ("exit 9", "program: sh exited with code 9\n"),
      ("echo one; echo two >&2; exit 9", "sh exited with code 9; its last lines:\none\ntwo\n"),
    ] {
      let pipeline = try scene.pipeline(
        "  odd: {uses: command, with: {command: [sh, -c, \"\(script)\"]}}")
      let result = try scene.run("--pipeline \(pipeline)")
      #expect(result.status == 1)
      #expect(result.errors.contains(text), "\(result.errors)")
      #expect(try scene.digests() == [:])
    }
  }
}
