import StageSupport
import SystemPackage
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

@Suite("Gray pictures that a capture keeps as PNG files")
struct StoredCopiesTests {
  /// Files in memory; `nil` is a number without file.
  struct Files<Pixel: BitwiseCopyable & Sendable>: StoredFrameSource {
    var files: [[UInt8]?]
    var decoder: @Sendable ([UInt8]) throws -> [Pixel]
    var recordCount: Int { files.count }

    func storedFile(record: Int) -> [UInt8]? { files[record] }

    func decode(_ bytes: [UInt8], record: Int, into pixels: inout [Pixel]) -> RecordOutcome {
      guard let values = try? decoder(bytes) else { return .hole(.corruptRecord, "\(record)") }
      pixels = values
      return .picture
    }

    func decode(record: Int, into pixels: inout [Pixel]) -> RecordOutcome {
      guard let bytes = files[record] else { return RecordOutcome(hasPicture: false) }
      return decode(bytes, record: record, into: &pixels)
    }
  }

  private static let (width, height) = (40, 30)
  private static let depth = (0..<width * height).map { UInt16(1000 + $0 * 7 % 500) }
  private static let confidence = depth.map { UInt8($0 % 3) }
  private static let notes = [PNGText(keyword: "Author", text: "somebody")].compactMap(\.self)

  private static func depthFile(_ writer: PNGWriter) throws -> [UInt8] {
    var writer = writer
    return try writer.encode(gray16: depth, width: width, height: height)
  }

  private static func confidenceFile(_ writer: PNGWriter) throws -> [UInt8] {
    var writer = writer
    return try writer.encode(gray8: confidence, width: width, height: height)
  }

  /// Two whole files with a note, a number without file, and a file that is cut.
  private static func files(
    _ stored: PNGCompression, _ make: (PNGWriter) throws -> [UInt8]
  ) throws -> [[UInt8]?] {
    let file = try make(PNGWriter(compression: stored, notes: notes))
    return [file, nil, Array(file.dropLast(20)), file]
  }

  private func capture(_ stored: PNGCompression) throws -> Capture {
    var capture = Capture(
      id: "files", family: .strayScanner, generation: "png", folder: "/nowhere",
      clock: CaptureClock(.uptime, unit: "s"))
    let description = StreamDescription(file: "", encoding: "png", frames: 3)
    let (width, height) = (Self.width, Self.height)
    let depth = Files<UInt16>(files: try Self.files(stored, Self.depthFile)) {
      try PNGReader.storedDepth(in: $0).millimeters
    }
    let confidence = Files<UInt8>(files: try Self.files(stored, Self.confidenceFile)) {
      try PNGReader.storedGray(in: $0).values
    }
    capture.depth = .present(
      DepthStream(
        description: description, width: width, height: height, access: .indexed(depth)))
    capture.confidence = .present(
      ConfidenceStream(
        description: description, width: width, height: height, access: .indexed(confidence)))
    capture.frames = Array(repeating: CaptureFrame(), count: 4)
    return capture
  }

  private func depth(
    _ filters: [String: String] = [:], _ settings: [String: String] = [:],
    stored: PNGCompression = .compact
  ) throws -> StageBench.Output {
    let bench = try StageBench(try capture(stored))
    let store = try bench.run(DecompressDepth.self, filters)
    return try bench.run(ExportImages.self, settings, inputs: ["frames": store.artifact])
  }

  private func confidence(
    _ settings: [String: String] = [:], stored: PNGCompression = .compact
  ) throws -> StageBench.Output {
    let bench = try StageBench(try capture(stored))
    return try bench.run(
      ExportImages.self, settings.merging(["stream": "confidence"]) { first, _ in first })
  }

  private func bytes(_ output: StageBench.Output, _ name: String) throws -> [UInt8] {
    try InputFile(output.file(name)).whole(limit: InputLimits.bytesOfPicture)
  }

  @Test("They are copied without their notes, and damaged ones are holes")
  func copies() throws {
    let writer = PNGWriter(compression: .compact)
    let depth = try depth()
    #expect(depth.names.sorted() == ["000000.png", "000003.png"])
    #expect(try bytes(depth, "000003.png") == Self.depthFile(writer))
    #expect(depth.result.copied == [.depth])
    let confidence = try confidence()
    #expect(confidence.names.sorted() == ["000000.png", "000003.png"])
    #expect(try bytes(confidence, "000000.png") == Self.confidenceFile(writer))
    #expect(confidence.warnings.map(\.code) == [.corruptRecord])
  }

  @Test("They are encoded where effort is asked for")
  func effort() throws {
    let writer = PNGWriter(compression: .compact)
    let settings = ["compression": "compact"]
    #expect(
      try bytes(depth([:], settings, stored: .fast), "000000.png") == Self.depthFile(writer))
    #expect(
      try bytes(confidence(settings, stored: .fast), "000000.png")
        == Self.confidenceFile(writer))
  }

  @Test(
    "Filtered depth is the stored file exactly where no pixel is another one",
    arguments: [["range": "1.1m..2m"], ["minimumConfidence": "1"], ["maximumChange": "1m"]])
  func filtered(filters: [String: String]) throws {
    let output = try depth(filters)
    let written = try PNGReader.depth(at: output.file("000000.png")).millimeters
    let expected = Self.depth.indices.map { index in
      if filters["range"] != nil, Self.depth[index] < 1100 { return 0 as UInt16 }
      if filters["minimumConfidence"] != nil, Self.confidence[index] < 1 { return 0 }
      return Self.depth[index]
    }
    #expect(written == expected)
    let isStored =
      try bytes(output, "000000.png") == Self.depthFile(PNGWriter(compression: .compact))
    #expect(isStored == (expected == Self.depth))
  }

  @Test("A filter tells what is wrong with the confidence that it counts on")
  func confidenceOfFilter() throws {
    var capture = try capture(.compact)
    let file = try Self.confidenceFile(PNGWriter(compression: .compact))
    let files = Files<UInt8>(files: [file, nil, nil, Array(file.dropLast(20))]) {
      try PNGReader.storedGray(in: $0).values
    }
    capture.confidence = .present(
      ConfidenceStream(
        description: StreamDescription(file: "", encoding: "png", frames: 2), width: Self.width,
        height: Self.height, access: .indexed(files)))
    let output = try StageBench(capture).run(DecompressDepth.self, ["minimumConfidence": "1"])
    #expect(
      output.warnings.map { "\($0.code.rawValue) \($0.subject) \($0.count)" }.sorted()
        == ["confidence-missing depth 1", "corrupt-record confidence 1", "corrupt-record depth 1"])
  }
}

@Suite("Stages that throw away everything they read")
struct NothingLeftTests {
  private func aligned(
    _ kind: any Stage.Type, _ depth: [DepthImage?], _ settings: [String: String]
  ) throws -> [CaptureWarning] {
    let scene = BoardScene()
    let bench = try StageBench(scene.capture)
    return try bench.run(
      kind, settings,
      inputs: [
        "frames": try bench.depth(depth),
        "color": try bench.color(depth.map { _ in scene.color }),
      ]
    ).warnings
  }

  @Test("Alignment says when no depth pixel has a place, and how many there were")
  func alignment() throws {
    let scene = BoardScene()
    let empty = DepthImage(width: 80, height: 60)
    let pixels = 2 * 80 * 60
    for (kind, subject) in [(AlignDepth.self, "aligned"), (AlignColor.self, "color")]
      as [(any Stage.Type, String)]
    {
      #expect(try aligned(kind, [scene.depth, nil, scene.depth], [:]).isEmpty)
      let depth = [scene.depth, nil, empty, scene.depth]
      let warnings = try aligned(kind, depth, ["minimumDepth": "60m"])
      #expect(warnings.map(\.code) == [.nothingLeft] && warnings.map(\.subject) == [subject])
      #expect(warnings.first?.count == 2, "frames with depth")
      #expect(warnings.first?.severity == .warning)
      let message = try #require(warnings.first?.message)
      #expect(message.hasPrefix("0 of \(pixels) depth pixels of 2 frames are left"), "\(message)")
      #expect(message.contains("minimumDepth=60m"), "\(message)")
    }
  }

  @Test("Frames without a measurement have lost none")
  func empty() throws {
    let empty = DepthImage(width: 80, height: 60)
    for kind in [AlignDepth.self, AlignColor.self] as [any Stage.Type] {
      #expect(try aligned(kind, [empty, nil, empty], ["minimumDepth": "60m"]).isEmpty)
    }
  }

  @Test("A recording that is over before its IMU starts has lost no samples")
  func beforeIMU() throws {
    for (gap, codes) in [(70_000_000, []), (20_000_000_000, [.nothingLeft])]
      as [(Int64, [WarningCode])]
    {
      var small = SmallCapture(times: [0, 16_000_000])
      small.addIMU([16_000_000 + gap])
      let warnings = try StageBench(small.capture).run(MatchIMU.self).warnings
      #expect(warnings.map(\.code) == codes)
    }
  }

  @Test("A tally counts until something is left")
  func tally() {
    func warnings(_ frames: [(values: Int, isAnythingLeft: Bool)]) -> [CaptureWarning] {
      let tally = LeftoverTally()
      for frame in frames { tally.add(values: frame.values, isAnythingLeft: frame.isAnythingLeft) }
      let collector = WarningCollector()
      tally.report("depth", "measured pixels", "range=1m..2m", to: collector)
      return collector.warnings
    }
    #expect(warnings([]).isEmpty)
    #expect(warnings([(0, false), (0, false)]).isEmpty, "there was nothing")
    #expect(warnings([(5, false), (7, true), (9, false)]).isEmpty)
    let all = warnings([(5, false), (0, false), (7, false)])
    #expect(all.map(\.message) == ["0 of 12 measured pixels of 2 frames are left: range=1m..2m"])
    #expect(all.map(\.count) == [2])
    #expect(
      warnings([(1, false)]).map(\.message) == [
        "0 of 1 measured pixels of 1 frame are left: range=1m..2m"
      ])
  }
}
