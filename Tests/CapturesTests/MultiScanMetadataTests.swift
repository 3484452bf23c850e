@testable import Captures
import Testing

@Suite("MultiScan metadata")
struct MultiScanMetadataTests {
  typealias Samples = MultiScanSamples

  private func capture(metadata: String, as ending: String = ".json") throws -> Capture {
    let folder = try Samples.lidar(frames: 1)
    try folder.remove("\(Samples.stem).json")
    try folder.write("\(Samples.stem)\(ending)", metadata)
    return try folder.open()
  }

  private func document(_ type: String) -> String {
    Samples.metadata(Samples.lidarStreams(frames: 1), scene: #"{"type":"\#(type)"}"#)
  }

  @Test(
    "Of several documents the last one counts, however they stand",
    arguments: ["", "\n", "\r\n\n", " \u{0} "])
  func severalDocuments(between: String) throws {
    let text = [document("first"), document("se{cond"), document("thi\\\"}rd")]
      .joined(separator: between)
    #expect(try capture(metadata: text).scene.type == #"thi"}rd"#)
  }

  @Test("A last document that was cut does not count; one appended to a cut one does")
  func cutDocuments() throws {
    let (first, second) = (document("first"), document("second"))
    #expect(try capture(metadata: first + "\n" + second.dropLast(9)).scene.type == "first")
    #expect(try capture(metadata: first.dropLast(9) + "\n" + second).scene.type == "second")
  }

  @Test("Metadata cut anywhere is metadata or none, never a trap")
  func cut() throws {
    let text = Array(document("café ’s").utf8)
    let folder = try MultiScanFolder()
    try folder.write("\(Samples.stem).depth.zlib", Samples.deflated([1, 2, 3]))
    for end in text.indices {
      try folder.write("\(Samples.stem).json", String(decoding: text[..<end], as: UTF8.self))
      let capture = try folder.open()
      #expect(capture.total(.missingFile, "metadata") == 1)
      #expect(capture.generation == "ios-lidar")
    }
  }

  @Test("Streams are found by what they say, in any order")
  func order() throws {
    let streams = Samples.lidarStreams(frames: 1)
    for entries in [streams, streams.reversed(), Array(streams[1...]) + [streams[0]]] {
      let capture = try capture(metadata: Samples.metadata(entries))
      #expect(capture.depth.value?.description.declaredFrames == 1)
      #expect(capture.totals().isEmpty)
    }
  }

  @Test(
    "A stream is known by its type, its id or its file extension",
    arguments: [
      #"{"type":"lidar_sensor","number_of_frames":5}"#,
      #"{"id":"depth_back_1","num_frames":5}"#,
      #"{"file_extension":"depth.zlib","number_of_frames":"5"}"#,
      #"{"type":7,"id":null,"file_extension":"depth.zlib","num_frames":5}"#,
    ])
  func roles(entry: String) throws {
    let capture = try capture(metadata: Samples.metadata([entry]))
    #expect(capture.depth.value?.description.declaredFrames == 5)
    #expect(capture.total(.frameCountMismatch, "depth") == 4)
  }

  @Test(
    "Keys of an unexpected kind count as absent",
    arguments: [
      #"{"streams":[1,null,"x",[]],"device":[],"scene":7,"user":null,"depth_unit":{}}"#,
      #"{"streams":[{"resolution":{},"number_of_frames":-3,"intrinsics":"x","id":[]}]}"#,
      #"{"streams":[]}"#,
    ])
  func oddKinds(text: String) throws {
    let capture = try capture(metadata: text)
    #expect(capture.total(.missingFile, "metadata") == 0)
    #expect(capture.depth.value?.description.frames == 1)
  }

  @Test(
    "A JSON file without streams is no metadata", arguments: ["{}", "[]", #"{"streams":5}"#, "x"])
  func noStreams(text: String) throws {
    #expect(try capture(metadata: text).total(.missingFile, "metadata") == 1)
  }

  @Test("Without unit, confidence keys and format names it is of 2020; the unit is meters")
  func of2020() throws {
    let entries = Samples.lidarStreams(frames: 1)
    let old = try capture(metadata: Samples.metadata(entries, unit: nil))
    #expect(old.generation == "ios-lidar-2020")
    #expect(old.depth.value?.description.encoding == "deflate-stream-f16")
    #expect(old.totals().isEmpty)
    let new =
      "{\"depth_confidence_avaliable\":true,\"streams\":[\(entries.joined(separator: ","))]}"
    #expect(try capture(metadata: new).generation == "ios-lidar")
  }

  @Test(
    "Without metadata the files tell the mode",
    arguments: [
      (["depth.zlib", "jsonl"], "ios-lidar"), (["depth.zlib"], "ios-lidar"),
      (["confidence.zlib"], "ios-lidar"), (["depth.zlib", "rot"], "ios-stereo"),
      (["rot", "acce"], "ios-single"),
    ])
  func withoutMetadata(endings: [String], generation: String) throws {
    let folder = try MultiScanFolder()
    for ending in endings {
      let isMotion = Samples.motionKinds.contains(ending)
      try folder.write(
        "\(Samples.stem).\(ending)",
        isMotion
          ? Samples.motion(ending, records: 0..<4)
          : ending == "jsonl" ? Array(Samples.lines(1).utf8) : Samples.deflated([1, 2, 3]))
    }
    let capture = try folder.open()
    #expect(capture.generation == generation)
    #expect(capture.total(.missingFile, "metadata") == 1)
  }

  @Test(
    "Positions are one valid pair or none",
    arguments: [
      ("[10.5,-20.25]", true), ("[]", false), ("null", false), ("[1]", false), ("[91,0]", false),
      ("[0,181]", false), (#"["1","2"]"#, false), ("[1,2,3]", false), ("[-90,180]", true),
    ])
  func positions(text: String, isThere: Bool) throws {
    let capture = try capture(
      metadata: Samples.metadata(
        Samples.lidarStreams(frames: 1), scene: #"{"gps_location":\#(text)}"#))
    #expect((capture.geo.value != nil) == isThere)
    #expect(
      capture.total(.corruptRecord, "geo") == (isThere || ["[]", "null"].contains(text) ? 0 : 1))
    #expect(capture.totals(except: [.corruptRecord]).isEmpty)
  }

  @Test(
    "The stem tells when the recording started",
    arguments: [
      ("20201125T130512-0800_x", "2020-11-25T13:05:12-08:00"),
      ("20210611T101500+0200_0123-00", "2021-06-11T10:15:00+02:00"),
      ("20210611T1015000530_x", "2021-06-11T10:15:00+05:30"),
      ("20210611_103000_x", "2021-06-11T10:30:00"),
      ("25640611T101500+0700_x", nil), ("20211311T101500+0700_x", nil), ("scan", nil),
      ("２０２１0611_103000_x", nil),
    ])
  func recordedAt(stem: String, expected: String?) throws {
    let folder = try MultiScanFolder()
    try folder.write("\(stem).depth.zlib", Samples.deflated([1]))
    #expect(try folder.open().recordedAt == expected)
    #expect(try folder.open().id == stem)
  }
}
