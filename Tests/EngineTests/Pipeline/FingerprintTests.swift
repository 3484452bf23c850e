import FoundationEssentials
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("Fingerprints and records")
struct FingerprintTests {
  static func fingerprintInputs(_ order: [String] = ["depth", "calibration"]) -> FingerprintInputs {
    var files: [String: [Digest]] = [:]
    for part in order { files[part] = [Digest(of: part), Digest(of: "\(part) 2")] }
    var parameters: [String: JSONValue] = [:]
    for name in order + ["shifts"] { parameters[name] = .number(0.01) }
    return FingerprintInputs(
      uses: "decompress-depth", version: 3, parameters: parameters,
      inputs: ArtifactRecord.Inputs(
        artifacts: ["frames": Digest(of: "frames")],
        capture: CaptureInputs(family: .scannet, readerVersion: 2, files: files),
        external: ["table": Digest(of: "table")]))
  }

  @Test("A port reads the files that it names, else all but the side files of the content")
  func ports() throws {
    func record(_ names: String...) throws -> ArtifactRecord {
      try ArtifactRecord(
        stage: "color", ingredients: Self.fingerprintInputs(), recorded: [:],
        outputs: names.map { OutputEntry(path: $0, bytes: 1, sha256: Digest(of: $0)) },
        started: "", finished: "", seconds: 0, cpuSeconds: 0, peakMemoryBytes: 0, frames: 1,
        warnings: [])
    }
    let (plain, measured) = (try record("0.png"), try record("0.png", "measures.csv"))
    #expect(plain.outputDigest != measured.outputDigest)
    let pictures = Port("color", .colorImages, isRequired: true, "")
    #expect(pictures.digest(of: plain) == plain.outputDigest)
    #expect(pictures.digest(of: measured) == plain.outputDigest)
    let table = Port("color", .colorImages, isRequired: true, files: ["measures.csv"], "")
    #expect(table.digest(of: measured) == (try record("measures.csv")).outputDigest)
    #expect(table.digest(of: plain) != table.digest(of: measured))
    // Only of pictures it is a side file.
    let files = Port("any", .files, isRequired: true, "")
    #expect(files.digest(of: measured) == measured.outputDigest)
  }

  @Test("A fingerprint is the SHA-256 of one canonical text, in every version of the program")
  func stable() throws {
    let text = String(decoding: try JSONText.canonical(Self.fingerprintInputs()), as: UTF8.self)
    let d = { (of: String) in Digest(of: of).hex }
    #expect(
      text == """
        {"inputs":{"artifacts":{"frames":"\(d("frames"))"},\
        "capture":{"family":"scannet","files":{"calibration":["\(d("calibration"))",\
        "\(d("calibration 2"))"],"depth":["\(d("depth"))","\(d("depth 2"))"]},"readerVersion":2},\
        "external":{"table":"\(d("table"))"}},\
        "parameters":{"calibration":0.01,"depth":0.01,"shifts":0.01},\
        "uses":"decompress-depth","version":3}
        """)
    #expect(
      try Self.fingerprintInputs().fingerprint().hex
        == "d9b94d0d4c6db13d33aaffdd83efc73b0c1abee4676e4a9e58ccfc9633e7097c")
  }

  @Test("The order in which dictionaries were filled does not matter")
  func order() throws {
    let names = (0..<40).map { "part \($0)" }
    let expected = try Self.fingerprintInputs(names).fingerprint()
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20 {
      #expect(try Self.fingerprintInputs(names.shuffled(using: &random)).fingerprint() == expected)
    }
  }

  @Test("Everything that decides the bytes of an artifact counts")
  func counts() throws {
    let changes: [(inout FingerprintInputs) -> Void] = [
      { $0.uses = "x" }, { $0.version = 4 }, { $0.parameters["shifts"] = .null },
      { $0.parameters["new"] = .null }, { $0.inputs.artifacts["frames"] = Digest(of: "x") },
      { $0.inputs.artifacts = [:] }, { $0.inputs.capture?.readerVersion = 3 },
      { $0.inputs.capture?.family = .strabo }, { $0.inputs.capture = nil },
      { $0.inputs.capture?.files["depth"]?.reverse() }, { $0.inputs.external = [:] },
      { $0.libraries = ["libavcodec": "61.3.100"] }, { $0.libraries = ["libavcodec": "61.19.101"] },
    ]
    var seen: Set<Digest> = [try Self.fingerprintInputs().fingerprint()]
    for change in changes {
      var changed = Self.fingerprintInputs()
      change(&changed)
      #expect(seen.insert(try changed.fingerprint()).inserted)
    }
  }

  static func record() throws -> ArtifactRecord {
    try ArtifactRecord(
      stage: "depth", ingredients: fingerprintInputs(),
      recorded: ["depth": .string("not the stage's to say"), "scale": .number(2)],
      outputs: [OutputEntry(path: "a.bin", bytes: 3, sha256: Digest(of: "abc"))], started: "s",
      finished: "f", seconds: 1.5, cpuSeconds: 2, peakMemoryBytes: 1 << 20, frames: 7,
      warnings: [CaptureWarning(.emptyRecord, "depth", count: 2, "empty")])
  }

  @Test(
    "A record is written as an encoder writes the whole, and reads back equal, however many outputs it lists",
    arguments: [0, 1, 1024, 1025, 2500])
  func manyOutputs(count: Int) throws {
    var record = try Self.record()
    // Nothing but the list itself is taken for it.
    record.recorded["outputs"] = .array([.string("outputs"), .string("[")])
    record.outputs = (0..<count).map {
      OutputEntry(path: "a \"[\\é/\($0)\n", bytes: Int64($0), sha256: Digest(of: "\($0)"))
    }
    let bytes = try record.fileBytes()
    #expect(try bytes == JSONText.pretty(record))
    #expect(ArtifactRecord(reading: bytes) == record)
    #expect(ArtifactRecord(reading: try JSONText.canonical(record)) == record)
    #expect(ArtifactRecord(reading: Array(bytes.dropLast(3))) == nil)
  }

  @Test(
    "A damaged list of outputs is no record, wherever it is damaged",
    arguments: [
      ("},", "}"), ("},", "},,"), ("[{", "[,{"), ("\"bytes\":7,", ""),
      ("\"sha256\":\"", "\"sha256\":\"0"), ("\"path\":\"f", "\"path\":\"\u{1}"),
    ])
  func damagedOutputs(old: String, new: String) throws {
    var record = try Self.record()
    for count in [8, 1032] {
      record.outputs = (0..<count).map {
        OutputEntry(path: "f\($0)", bytes: 7, sha256: Digest(of: "\($0)"))
      }
      let text = String(decoding: try JSONText.canonical(record), as: UTF8.self)
      let list = try #require(text.firstRange(of: "\"outputs\":["))
      let end = try #require(text[list.upperBound...].firstRange(of: "]"))
      let outputs = "[" + text[list.upperBound..<end.upperBound]
      // The first and the last place.
      let pieces = outputs.split(separator: old, omittingEmptySubsequences: false)
      try #require(pieces.count > 1)
      for place in [0, pieces.count - 2] {
        let damaged =
          pieces[...place].joined(separator: old) + new
          + pieces[(place + 1)...].joined(separator: old)
        let all = text[..<list.upperBound].dropLast() + damaged + text[end.upperBound...]
        #expect(ArtifactRecord(reading: Array(all.utf8)) == nil)
      }
    }
  }

  @Test("artifact.json has the keys that people read, and reads back equal")
  func keys() throws {
    let record = try Self.record()
    let bytes = try JSONText.pretty(record)
    let back = try JSONDecoder().decode(ArtifactRecord.self, from: Data(bytes))
    #expect(back == record)
    let object = try JSONDecoder().decode([String: JSONValue].self, from: Data(bytes))
    #expect(
      object.keys.sorted() == [
        "cpuSeconds", "fingerprint", "finished", "frames", "inputs", "outputDigest", "outputs",
        "parameters", "peakMemoryBytes", "recorded", "schema", "seconds", "stage", "started",
        "uses", "version",
        "warnings",
      ])
    #expect(object["schema"] == .integer(1))
    #expect(
      object["outputs"]
        == .array([
          .object([
            "path": .string("a.bin"), "bytes": .integer(3),
            "sha256": .string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
          ])
        ]))
    #expect(
      object["warnings"]
        == .array([
          .object([
            "code": .string("empty-record"), "subject": .string("depth"),
            "message": .string("empty"), "count": .integer(2),
            "severity": .string("warning"),
          ])
        ]))
  }

  @Test(
    "Values that a stage computed are recorded next to the parameters and never in place of them")
  func recorded() throws {
    let record = try Self.record()
    #expect(record.recorded == ["scale": .number(2)])
    #expect(record.parameters == Self.fingerprintInputs().parameters)
    #expect(record.fingerprint == (try Self.fingerprintInputs().fingerprint()))
    #expect(record.isSound)
    // Readers of the file find all of it in one place.
    let object = try JSONDecoder().decode(
      [String: JSONValue].self, from: Data(try JSONText.canonical(record)))
    guard case .object(let shown)? = object["parameters"] else {
      Issue.record("no parameters")
      return
    }
    #expect(shown["scale"] == .number(2) && shown["depth"] == .number(0.01))
  }
}

@Suite("Which build and which libraries made an artifact")
struct ProvenanceTests {
  private static let program = ProgramIdentity(
    version: "1.2.3", commit: nil,
    libraries: ["libpng": "1.6.48", "libavcodec": "61.3.100", "libxyz": "2", "libswscale": "8.3.0"])

  private func decision(
    recorded: [String: String], planned: [String: String],
    change: (inout FingerprintInputs) -> Void = { _ in }
  ) throws -> Decision {
    var made = FingerprintTests.fingerprintInputs()
    made.libraries = recorded
    var now = made
    now.libraries = planned
    change(&now)
    let record = try ArtifactRecord(
      stage: "color", ingredients: made, recorded: [:], outputs: [], started: "", finished: "",
      seconds: 0, cpuSeconds: 0, peakMemoryBytes: 0, frames: 0, warnings: [])
    // Read back: what is compared is what was written down.
    let bytes = try JSONText.pretty(record)
    let back = try JSONDecoder().decode(ArtifactRecord.self, from: Data(bytes))
    #expect(back == record && back.isSound)
    return Decision(
      published: PublishedArtifact(record: back, state: .intact), planned: now,
      upstream: ["frames": .artifact(Digest(of: "frames"))], isForced: false)
  }

  @Test(
    "Another version of a library that counts is another version of the stage, old and new are told",
    arguments: [
      (["libavcodec": "61.3.100"], ["libavcodec": "61.3.100"], nil),
      (
        ["libavcodec": "61.3.100", "libswscale": "8.3.0"],
        ["libavcodec": "61.19.101", "libswscale": "8.3.0"], ["libavcodec: 61.3.100 -> 61.19.101"]
      ),
      // Made by a build that did not count them.
      ([:], ["libavcodec": "61.3.100"], ["libavcodec: not recorded -> 61.3.100"]),
      (["libavcodec": "61.3.100"], [:], ["libavcodec: 61.3.100 -> not used"]),
      ([:], [:], nil),
    ] as [([String: String], [String: String], [String]?)])
  func libraries(
    _ recorded: [String: String], _ planned: [String: String], _ details: [String]?
  ) throws {
    let decision = try decision(recorded: recorded, planned: planned)
    #expect(decision.reason == (details == nil ? nil : .stageVersion))
    #expect(decision.details == details ?? [])
  }

  @Test("A library that another file does without is no other version: the file is the reason")
  func libraryOfAnotherFile() throws {
    let decision = try decision(recorded: ["libavcodec": "61.3.100"], planned: [:]) {
      $0.inputs.external["calibration"] = Digest(of: "another")
    }
    #expect(decision.reason == .inputChanged)
    #expect(decision.details.map { $0.prefix(12) } == ["calibration:"])
  }

  @Test("The version is alone on the first line, what it is made of below")
  func text() {
    #expect(
      Self.program.text(compiler: "6.3", processor: "arm64") == """
        1.2.3
        commit unknown
        Swift 6.3
        libavcodec 61.3.100
        libswscale 8.3.0
        libpng 1.6.48
        libxyz 2
        processor arm64
        """)
  }
}
