import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Half of a capture, through the built binary: everything that is left is processed, and somebody is told.
@Suite(.runsPrograms) struct ShortfallTests {
  /// Small, as are all that are synthesized here.
  private static let size = ["--width", "64", "--height", "48"]

  /// Cuts a file of the capture to a part of its bytes.
  private func cut(_ ending: String, to share: Double = 0.5, in scene: Scene) throws {
    let folder = scene.input.appending("a")
    let name = try #require(FileSystem.names(in: folder).first { $0.hasSuffix(ending) })
    let file = try FileHandle(forUpdating: URL(filePath: folder.appending(name: name).string))
    try file.truncate(atOffset: UInt64(Double(try file.seekToEnd()) * share))
    try file.close()
  }

  /// With stages that cost little; what is short is known from opening and from what they could not decode.
  private func run(_ scene: Scene, _ more: String...) throws -> Program.Result {
    let words = more.filter { $0 != "depth" }
    if words.contains("--pipeline") { return try Program.run(scene.arguments(words)) }
    let last =
      more.contains("depth")
      ? "  depth-frames: {uses: decompress-depth}" : "  imu: {uses: match-imu}"
    let pipeline = try scene.pipeline("  tables: {uses: export-tables}\n\(last)")
    return try Program.run(scene.arguments(["--pipeline", pipeline] + words))
  }

  /// Streams that are short, with what is left and what was declared.
  private func shortfalls(_ result: Program.Result) throws -> [String: [Int]] {
    let entries = try result.json().capture()["shortfalls"] as? [[String: Any]] ?? []
    var found: [String: [Int]] = [:]
    for entry in entries {
      #expect(entry["code"] as? String == "shortfall")
      let message = try #require(entry["message"] as? String)
      let (held, declared) = (entry["held"] as? Int ?? -1, entry["declared"] as? Int ?? -1)
      #expect(message.contains("\(held) of \(declared)"))
      found[try #require(entry["subject"] as? String)] = [held, declared]
    }
    return found
  }

  struct Case: CustomTestStringConvertible, Sendable {
    var family: String
    var frames = 12
    var more: [String] = []
    var file: String
    var stream: String
    var testDescription: String { "\(family) \(file)" }

    var words: [String] { [family, "--frames", "\(frames)"] + ShortfallTests.size + more }
  }

  /// Synthesized captures are small and whole: the file is cut at half.
  static let cases = [
    Case(family: "scannet", file: ".depth", stream: "depth"),
    Case(family: "scannet", file: ".imu", stream: "imu"),
    Case(family: "scannet", file: ".camera", stream: "cameraSettings"),
    Case(family: "scannet", file: ".h264", stream: "color"),
    Case(family: "arkit-scanner", file: "depth.bin", stream: "depth"),
    Case(family: "arkit-scanner", file: "trans.json", stream: "poses"),
    Case(family: "multiscan", file: ".depth.zlib", stream: "depth"),
    Case(family: "multiscan", file: ".confidence.zlib", stream: "confidence"),
    Case(family: "multiscan", file: ".jsonl", stream: "poses"),
    Case(
      family: "multiscan", more: ["--generation", "ios-single"], file: ".acce", stream: "imu"),
    Case(family: "vi-slam", file: "frame_metadata.csv", stream: "cameraSettings"),
    Case(family: "vi-slam", frames: 90, file: "imu_data.csv", stream: "imu"),
  ]

  @Test(arguments: Rounds.every(3, of: cases))
  func `half of a stream puts a capture under those that need a person`(_ damage: Case) throws {
    let scene = try Scene(synthesizing: "\(damage.words)")
    #expect(try shortfalls(run(scene, "--json", "-q")).isEmpty, "a whole capture lacks nothing")
    try Program.run("status \(scene.output) --exit-code").succeeds()
    try cut(damage.file, in: scene)
    let result = try run(scene, "--json", "-q").succeeds()
    let found = try shortfalls(result)
    let numbers = try #require(found[damage.stream], "\(found)")
    #expect(numbers[0] < numbers[1] && numbers[0] > 0)
    let status = try Program.run("status \(scene.output) --exit-code --json")
    #expect(status.status == 1)
    let row = try status.json().capture()
    #expect(row["state"] as? String == "done")
    #expect((row["shortfalls"] as? [[String: Any]])?.isEmpty == false)
  }

  @Test func `a depth file that breaks off is told by every view with its numbers`() throws {
    let scene = try Scene(synthesizing: "scannet --frames 12 \(Self.size)")
    try cut(".depth", in: scene)
    let result = try run(scene, "--progress", "none").succeeds()
    #expect(result.output.contains(" shortfall=depth"))
    #expect(result.errors.contains("1 capture needs you:\n  a: depth: "))
    #expect(result.errors.contains("declared by numDepthFrames"))
    let status = try Program.run("status \(scene.output)")
    #expect(status.output.contains("needs you: depth: "))
    #expect(
      try Program.run("status \(scene.output) --warning shortfall").output
        .contains("needs you: depth: "))
    let report = try Program.run("report \(scene.output) --format json --exit-code")
    #expect(report.status == 1)
    let json = try report.json()
    #expect(json["totals", "needsPerson"] as? Int == 1)
    let capture = try json.capture()
    let codes = (capture["warnings"] as? [[String: Any]])?.compactMap { $0["code"] as? String }
    #expect(codes?.contains("shortfall") == true)
    try Program.run("report \(scene.output)").succeeds()
    let text = try scene.output.appending("index.html").text()
    #expect(text.contains("0 of 1 captures are ready. 1 needs you."))
    #expect(text.contains("id=\"attention\""))
    #expect(text.contains("data-total=\"needsPerson\""))
    // The inspection has the facts apart from the warnings of the family's page.
    let inspection = try Program.run("inspect \(scene.input.appending("a")) --json")
      .json()
    let lacking = try #require(inspection.objects("lacking").first)
    #expect(lacking["stream"] as? String == "depth")
    #expect(lacking["declaredBy"] as? String == "numDepthFrames")
    // Up to date: told without opening it.
    #expect(try run(scene, "--progress", "none").output.contains(" shortfall=depth"))
    // So it is told by what packs it.
    try scene.run("-q").succeeds()
    let pack = try Program.run(
      "pack \(scene.output) --to webdataset --into \(scene.folder.path.appending("set"))"
    ).succeeds()
    #expect(
      pack.errors == "note: 1 capture of these needs you and is packed: shortfall 1\n",
      "\(pack.errors)")
  }

  @Test func `watch --once --exit-code ends with 1 for it, also when there is nothing left to do`()
    throws
  {
    let scene = try WatchScene()
    let made = try scene.put("a")
    try scene.once().succeeds()
    let file = try FileHandle(forUpdating: URL(filePath: made.appending("a.depth").string))
    try file.truncate(atOffset: try file.seekToEnd() / 2)
    try file.close()
    let first = try scene.once("--exit-code")
    #expect(first.status == 1, "\(first.errors)")
    #expect(first.errors.contains("needs you"))
    #expect(try scene.once("--exit-code").status == 1)
    // Nothing failed.
    try scene.once().succeeds()
    try scene.once("--exit-code --shortfall 100%").succeeds()
  }

  @Test func `frames that nobody chose are not lost`() throws {
    let scene = try Scene(synthesizing: "arkit-scanner --frames 10 --width 160 --height 120")
    for (name, words) in [
      ("subset", ["--export", "nerfstudio", "--set", "export-nerfstudio.count=3"]),
      ("every", ["--set", "color.every=4", "--set", "aligned.every=4"]),
    ] {
      let result = try Program.run(scene.arguments(["--json"] + words, to: name))
      #expect(result.status == 0, "\(name): \(result.errors)")
      #expect(try shortfalls(result).isEmpty, "\(name): \(result.errors)")
      #expect(!result.errors.contains("needs you"), "\(name): \(result.errors)")
    }
  }

  @Test func `how much may be lost is a setting of the pipeline`() throws {
    let scene = try Scene(synthesizing: "scannet --frames 12 \(Self.size)")
    try cut(".depth", to: 0.9, in: scene)
    let file = scene.folder.path.appending("p.yaml")
    func pipeline(_ percent: String) throws -> String {
      try file.write("schema: 1\nshortfall: \(percent)\nstages:\n  imu: {uses: match-imu}\n")
      return file.string
    }
    #expect(
      try shortfalls(run(scene, "--json", "-q", "--pipeline", pipeline("2%"))).keys.contains(
        "depth"))
    #expect(try Program.run("status \(scene.output) --exit-code").status == 1)
    #expect(try shortfalls(run(scene, "--json", "-q", "--pipeline", pipeline("50 %"))).isEmpty)
    try Program.run("status \(scene.output) --exit-code").succeeds()
    // The command line comes before the file.
    let both = try run(scene, "--json", "-q", "--pipeline", pipeline("50%"), "--shortfall", "0.5%")
    #expect(try shortfalls(both).keys.contains("depth"))
    #expect(try Program.run("status \(scene.output) --exit-code").status == 1)
    for wrong in ["2", "101%", "-1%", "x%"] {
      #expect(try run(scene, "--pipeline", pipeline(wrong)).status == 78, "\(wrong)")
      #expect(try run(scene, "--shortfall=\(wrong)").status == 64, "\(wrong)")
    }
  }

  @Test func `one frame of seventy needs nobody`() throws {
    let scene = try Scene(
      synthesizing: "scannet --frames 70 \(Self.size) --fault count-minus-1")
    let result = try run(scene, "--json", "-q")
    #expect(try shortfalls(result).isEmpty)
    #expect(try Program.run("status \(scene.output)").output.contains("needs you") == false)
  }

  @Test func `payloads that cannot be decoded count as lost`() throws {
    let scene = try Scene(synthesizing: "scannet --frames 12 \(Self.size)")
    let file = scene.file("a.depth")
    var bytes = [UInt8](try file.data())
    // A byte in the middle of the first payload.
    let length = bytes[0..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
    for index in (4 + length / 2)..<(4 + length / 2 + 64) { bytes[index] = 0xFF }
    try file.write(bytes)
    let found = try shortfalls(run(scene, "--json", "-q", "depth"))
    #expect(found["depth"] == [11, 12])
    #expect(try Program.run("status \(scene.output) --exit-code").status == 1)
  }

  /// Damage inside of records, of which nothing is known before they are decoded: the stream that has lost them.
  static let damage: [(words: String, lost: String?)] = [
    ("scannet --frames 12", nil),
    ("scannet --frames 12 --fault corrupt-depth", "depth"),
    // One of sixty is less than what a pipeline accepts.
    ("scannet --frames 60 --fault corrupt-depth", nil),
    ("arkit-scanner --frames 12 --fault empty-record", "depth"),
    ("stray-scanner --frames 12 --fault cut-confidence", "confidence"),
    ("stray-scanner --frames 12 --fault far-number", "depth"),
    ("3d-scanner-app --frames 12 --fault cut-color", "color"),
    ("record3d --frames 12 --fault cut-depth", "depth"),
    ("polycam --frames 12 --fault depth-size", "depth"),
  ]

  @Test(arguments: damage.map(\.words))
  func `all verbs with --exit-code end alike where records cannot be decoded`(_ words: String)
    throws
  {
    let lost = try #require(Self.damage.first { $0.words == words }).lost
    let scene = try Scene(
      synthesizing: "\(words.split(separator: " ").map(String.init)) \(Self.size)")
    let code: Int32 = lost == nil ? 0 : 1
    let inspection = try Program.run("inspect \(scene.input) --exit-code")
    #expect(inspection.status == code, "\(inspection.output)")
    let pipeline = try scene.pipeline(
      """
        color: {uses: decode-color}
        depth-frames: {uses: decompress-depth}
        confidence: {uses: export-images, with: {stream: confidence}}
      """)
    let told = try Program.run(scene.arguments(["--pipeline", pipeline, "--exit-code", "--json"]))
    #expect(told.status == code, "\(told.errors)")
    #expect(try shortfalls(told).keys.sorted() == (lost.map { [$0] } ?? []))
    for verb in ["status \(scene.output)", "report \(scene.output) --format json"] {
      let words = verb.split(separator: " ").map(String.init)
      #expect(try Program.run(words + ["--exit-code"]).status == code, "\(verb)")
    }
    // Both documents have the same numbers of what is lost, as far as it is lost.
    let document = try Program.run("inspect \(scene.input) --json").json()
    let made = try JSONSerialization.jsonObject(
      with: scene.output.appending(told.json().capture()["id"] as? String ?? "")
        .appending("capture.json").data())
    let facts = [document, made as? [String: Any] ?? [:]].map { document in
      (document["lacking"] as? [[String: Any]] ?? []).map {
        "\($0["stream"] ?? "") \($0["held"] ?? "") of \($0["declared"] ?? "")"
      }
    }
    #expect(facts[0] == facts[1])
    if let lost {
      #expect(facts[0].map { $0.split(separator: " ")[0] } == [lost[...]], "\(facts)")
      #expect(inspection.output.contains("lacking     \(lost): "))
    }
  }
}
