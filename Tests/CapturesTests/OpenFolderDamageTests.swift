@testable import Captures
import Core
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Descriptions that are wrong, and captures that lack what their description names.
@Suite("Open folder: errors and damage")
struct OpenFolderDamageTests {
  @Test(
    "A wrong description is refused with file, line, key, what is allowed, and the nearest word",
    arguments: [
      ("color: {image: x}", "line 3, color.image: no such key, did you mean 'images'?"),
      ("colour: {}", "line 3, colour: no such key, did you mean 'color'?"),
      (
        "color: {images: \"*.jpg\", time: {name: true, unit: sec}}",
        "color.time.unit: `sec` is none of s, ms, us, ns"
      ),
      (
        "color: {images: ../rgb/*.jpg}",
        "color.images: `../rgb/*.jpg` leads out of the capture's folder"
      ),
      (
        "color: {video: /etc/passwd}",
        "color.video: `/etc/passwd` leads out of the capture's folder"
      ),
      ("color: {images: rgb}", "color.images: `rgb` needs one `*`"),
      ("color: {images: \"a*/*.jpg\"}", "color.images: `a*/*.jpg` needs one `*`"),
      (
        "depth: {images: a.bin, raw: {type: uint8, width: 4, height: 3, compression: gzip}}",
        "only raw pictures without compression"
      ),
      ("color: {images: \"a/*.jpg\", video: a.mp4}", "`images` and `video` exclude each other"),
      ("color: {time: {rate: 10}}", "color: one of `images`, `video`, `table` with `file`"),
      ("color: {images: \"*.jpg\", time: {rate: 10, offset: 1e300}}", "no number from"),
      (
        "depth: {images: \"*.bin\", raw: {width: 4, height: 3}}",
        "`type` is missing, that of a pixel: one of float32"
      ),
      (
        "depth: {images: \"*.bin\", raw: {type: float32, width: 32768, height: 32768}}",
        "pixels in a picture"
      ),
      (
        "depth: {images: \"*.bin\", raw: {type: float32, width: 1e99, height: 3}}",
        "no whole number"
      ),
      ("poses: {table: a.csv, matrix: m, order: row, axes: arkit}", "`direction` is missing"),
      ("poses: {table: a.csv, matrix: [1, 2]}", "poses.matrix: 2 numbers, not 12 or 16"),
      (
        "depth: {images: \"*.png\", intrinsics: {fx: 1, fy: 1, cx: 1, cy: 1, size: [4, 3]}}",
        "depth: `colorFromDepth` is missing"
      ),
      (
        "depth: {images: \"*.png\", intrinsics: {fx: 0, fy: 1, cx: 1, cy: 1, size: [4, 3]}, "
          + "colorFromDepth: {position: [0, 0, 0], quaternion: [0, 0, 0, 1], quaternionOrder: xyzw}}",
        "depth.intrinsics: numbers are needed"
      ),
      (
        "poses: {position: [1, 2, 3], quaternion: [4, 5, 6, 7], quaternionOrder: xyzw, axes: arkit, "
          + "direction: worldFromCamera}",
        "the numbers are no rotation"
      ),
      (
        "color: {images: \"*.jpg\"}\nintrinsics: {fx: 1, fy: 1, cx: 1, cy: 1, size: [1e99, 3]}",
        "no focal"
      ),
      ("poses: {table: {where: {a: 1}}}", "poses.table: `file` is missing"),
      (
        "motion: {table: a.csv, time: {column: t, unit: s}, gyroscope: [x, y, z]}",
        "`rotation` is missing, the unit"
      ),
      // The nearest word would be the inverse.
      (
        "poses: {table: a.csv, matrix: m, order: row, axes: arkit, direction: camera_to_world}",
        "poses.direction: `camera_to_world` is none of worldFromCamera, cameraFromWorld (docs"
      ),
      ("clock: uptme\ncolor: {images: \"*.jpg\"}", "did you mean 'uptime'?"),
      ("", "one of `color`, `depth`, `poses`, `motion` is needed"),
      ("color: [", "it is no YAML: line 4, while parsing"),
      (
        "color: {images: \"a\", images: \"b\"}",
        "it is no YAML: line 3, more than once in one map: `images`"
      ),
      ("layout: transforms", "nothing that capture.yaml names is there: transforms.json"),
      ("layout: transform", "layout: `transform` is not known here, only `transforms`"),
      (
        "color: {images: \"*.jpg\"}\nintrinsics: {fx: 1, fy: 1, cx: 1, cy: 1, size: 4x3}",
        "line 4, intrinsics: `4x3` is no number, and without `table` it is no column either"
      ),
      ("color: " + String(repeating: "[", count: 100), "levels inside each other"),
      ("color: [\(String(repeating: "*a, ", count: 40))]", "aliases in a YAML file"),
    ])
  func descriptions(text: String, message: String) throws {
    let scratch = try OpenFolderScratch(text)
    let error = #expect(throws: CaptureError.self) { try scratch.open() }
    let words = error?.description ?? ""
    #expect(words.contains(message) && words.contains("capture.yaml"), "\(words)")
  }

  struct Change: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var expected: [String: Int]
    var isWhole = true
    var apply: @Sendable (OpenFolderScratch) throws -> Void

    init(
      _ testDescription: String, _ expected: [String: Int], isWhole: Bool = true,
      _ apply: @escaping @Sendable (OpenFolderScratch) throws -> Void
    ) {
      (self.testDescription, self.expected) = (testDescription, expected)
      (self.isWhole, self.apply) = (isWhole, apply)
    }
  }

  static let changes = [
    Change("a depth file that is cut", ["corrupt-record depth": 1]) {
      try $0.write(Array($0.bytes(of: "depth/frame_9.bin").dropLast()), to: "depth/frame_9.bin")
    },
    Change("a depth file of 0 bytes", ["empty-record depth": 1]) {
      try $0.write("", to: "depth/frame_9.bin")
    },
    Change("a depth file that is gone", ["frame-count-mismatch depth": 1]) {
      try $0.remove("depth/frame_9.bin")
    },
    Change(
      "a depth file with no frame",
      [
        "frame-count-mismatch poses": 1, "timestamps-missing frames": 1,
        "frame-count-mismatch depth": 1,
      ]
    ) {
      try $0.writeFloats("depth/frame_11.bin", [Float](repeating: 1, count: 12))
    },
    Change("a picture that a row names is gone", ["missing-file color": 1], isWhole: false) {
      try $0.remove("rgb/frame_9.jpg")
    },
    Change("a picture that is cut", ["corrupt-record color": 1]) {
      try $0.write(Array($0.bytes(of: "rgb/frame_9.jpg").dropLast(200)), to: "rgb/frame_9.jpg")
    },
    Change(
      "a row that is no JSON",
      [
        "corrupt-record frames.jsonl": 1, "timestamps-missing frames": 2,
        "frame-count-mismatch depth": 2, "frame-count-mismatch poses": 1,
      ]
    ) {
      try $0.write(
        $0.text(of: "frames.jsonl").replacing("68414.1", with: "\"\"68414.1"), to: "frames.jsonl")
    },
    Change("a row whose pose is not finite", ["non-finite-value poses": 1]) {
      try $0.write(
        $0.text(of: "frames.jsonl").replacing("0.1,", with: "nan,").replacing("0.1]", with: "NaN]"),
        to: "frames.jsonl")
    },
    Change("a row whose pose is no rotation", ["corrupt-record poses": 1]) {
      var lines = try $0.text(of: "frames.jsonl").split(separator: "\n").map(String.init)
      lines[1] = lines[1].replacing("[-1.0, 0.0", with: "[-4.0, 0.0")
      try $0.write(lines.joined(separator: "\n") + "\n", to: "frames.jsonl")
    },
    Change("a row that leads out of the folder", ["path-outside-capture color": 1]) {
      try $0.write(
        $0.text(of: "frames.jsonl").replacing("rgb/frame_9", with: "../frame_9"), to: "frames.jsonl"
      )
    },
    Change("a picture that is a link out of the folder", ["path-outside-capture color": 1]) {
      try $0.writePicture("../outside.jpg")
      try $0.remove("rgb/frame_9.jpg")
      try $0.link("rgb/frame_9.jpg", to: $0.outer.appending("outside.jpg"))
    },
    Change("files of macOS and Windows", [:]) {
      for name in ["depth/._frame_9.bin", "depth/.DS_Store", "depth/Thumbs.db", "._capture.yaml"] {
        try $0.write("x", to: name)
      }
    },
  ]

  @Test("Damage has its code and count, and everything else stays", arguments: changes)
  func damage(_ change: Change) throws {
    let scratch = try OpenFolderScratch.frames()
    try change.apply(scratch)
    #expect(try scratch.open().allCounts() == change.expected)
    let capture = try scratch.open()
    #expect(capture.completeness.isWhole == change.isWhole)
    #expect(try capture.depth(0)?.first == 1000)
    #expect(capture.nanoseconds.first == 68_414_000_000_001)
  }

  @Test(
    "Every picture that a row names and that is gone is waited for, and poses lose nothing by it")
  func absentPictures() throws {
    let scratch = try OpenFolderScratch(
      """
      color: {table: f.csv, file: name, time: {column: t, unit: s}}
      poses:
        {table: p.csv, time: {column: t, unit: s}, position: [x, y, z], quaternion: [a, b, c, d],
        quaternionOrder: xyzw, direction: worldFromCamera, axes: opencv}
      """)
    var (frames, poses) = ("t,name\n", "t,x,y,z,a,b,c,d\n")
    for number in 0..<10 {
      try scratch.writePicture("\(number).jpg")
      frames += "\(5 + Double(number) / 10),\(number).jpg\n"
      poses += "\(5 + Double(number) / 10),\(Double(number) / 100),0,0,0,0,0,1\n"
    }
    try scratch.write(frames, to: "f.csv")
    try scratch.write(poses, to: "p.csv")
    #expect(try scratch.open().allCounts() == [:])
    for number in [3, 4] { try scratch.remove("\(number).jpg") }
    let capture = try scratch.open()
    #expect(capture.warningCounts == ["missing-file": 2])
    #expect(CaptureSummary(capture, readerVersion: 1).missingFiles == ["3.jpg", "4.jpg"])
    #expect(capture.warnings.contains { $0.message.hasSuffix("not there, such as 3.jpg") })
  }

  @Test("A named file that is not there is told, and is what a watcher waits for")
  func absent() throws {
    let scratch = try OpenFolderScratch.frames()
    try scratch.write(
      try scratch.text(of: "capture.yaml").replacing(
        "poses:\n  table: frames", with: "poses:\n  table: poses"),
      to: "capture.yaml")
    let capture = try scratch.open()
    #expect(capture.poses.value == nil && capture.poses.error == nil)
    #expect(CaptureSummary(capture, readerVersion: 1).missingFiles == ["poses.jsonl"])
    #expect(!capture.completeness.isWhole)
    #expect(capture.warningCounts == ["missing-file": 1])
  }

  @Test(
    "Sizes that no file has are an error of the stream, and a column that is not there names the nearest"
  )
  func unreadable() throws {
    let scratch = try OpenFolderScratch.frames()
    let text = try scratch.text(of: "capture.yaml")
    try scratch.write(text.replacing("width: 4", with: "width: 5"), to: "capture.yaml")
    let depth = try #require(try scratch.open().depth.error)
    #expect("\(depth)".contains("capture.yaml says 5x3 float32, 60 bytes; the file has 48"))
    try scratch.write("stamp,name\n1,rgb/frame_8.jpg\n", to: "frames.csv")
    try scratch.describe(
      "color: {table: frames.csv, file: nam, time: {column: stamp, unit: s}}\ndepth: {images: \"depth/*.bin\", raw: {type: float32, width: 4, height: 3}}"
    )
    let table = try #require(try scratch.open().framesProblem)
    #expect("\(table)".contains("no column `nam`, did you mean 'name'?"), "\(table)")
  }

  /// A logger of three streams with a table each.
  private static let threeTables = """
    color: {table: rgb.csv, file: name, time: {column: t, unit: s}}
    depth: {table: depth.csv, file: name, time: {column: t, unit: s}}
    poses:
      table: {file: poses.txt, columns: [t, x, y, z, a, b, c, d]}
      time: {column: t, unit: s}
      position: [x, y, z]
      quaternion: [a, b, c, d]
      quaternionOrder: xyzw
      direction: worldFromCamera
      axes: arkit
    """

  @Test(
    "A column, unit or clock that the tables contradict makes the stream unreadable, with place and remedy",
    arguments: [
      (
        "color", "unit: s", "unit: ms", "depth",
        "depth.time: 0 of 12 times are near that of a frame"
      ),
      (
        "depth", "unit: s", "unit: us", "depth",
        "they lie at 0.000 to 0.000 s, the frames at 100.000 to 101.100 s"
      ),
      ("poses", "column: t, unit: s", "column: t, unit: us", "poses", "check `column` and `unit`"),
      (
        "color", "column: t", "column: name", "frames", "in column `name` of line 2 is no time in s"
      ),
      ("poses", "[t, x", "[i, t, x", "poses", "line 1 has 8 values, and 9 columns in capture.yaml"),
      ("poses", "columns: [t,", "columns: [x, t, x,", "poses", "check the table and `columns`"),
      (
        "poses", "{file: poses.txt, columns: [t, x, y, z, a, b, c, d]}", "poses.txt", "poses",
        "its first line has numbers, and no names of columns (name the columns in their order with `columns`"
      ),
      (
        "depth", "file: name", "file: nam", "depth",
        "no column `nam`, did you mean 'name'? (name a column of its header under depth in capture.yaml: t, name)"
      ),
    ])
  func contradictions(block: String, old: String, new: String, subject: String, message: String)
    throws
  {
    let start = try #require(Self.threeTables.range(of: "\(block):"))
    let place = try #require(Self.threeTables[start.lowerBound...].range(of: old))
    let scratch = try OpenFolderScratch(Self.threeTables.replacingCharacters(in: place, with: new))
    func write(_ name: String, _ line: (Int, Double) -> String) throws {
      let lines = (0..<12).map { line($0, 100 + Double($0) / 10) + "\n" }
      try scratch.write((name == "poses.txt" ? "" : "t,name\n") + lines.joined(), to: name)
    }
    try write("rgb.csv") { "\($1),\($0).jpg" }
    try write("depth.csv") { "\($1),d\($0 + 40).png" }
    try write("poses.txt") { "\($1) \($0) 0 0 0 0 0 1" }
    for index in 0..<12 {
      try scratch.writePicture("\(index).jpg")
      try scratch.writeDepth("d\(index + 40).png", [UInt16](repeating: 1000, count: 12))
    }
    let capture = try scratch.open()
    let errors = [
      "frames": capture.framesProblem, "depth": capture.depth.error, "poses": capture.poses.error,
    ]
    let words = (errors[subject] ?? nil)?.description ?? ""
    #expect(words.contains(message) && words.contains("capture.yaml"), "\(words)")
    #expect(capture.depth.value == nil || capture.frames.count == 12)
  }

  @Test("A single time that is none is told with its place, and a table without any picture too")
  func oddRows() throws {
    let scratch = try OpenFolderScratch.frames()
    try scratch.write(
      scratch.text(of: "frames.jsonl").replacing("68414.1", with: "nan, \"u\": 6"),
      to: "frames.jsonl")
    let found = try scratch.open().warnings.filter { $0.subject == "frames.jsonl" }
    #expect(found.map(\.code) == [.timestampsMissing])
    #expect(found.first?.message == "`nan` in column `t` of line 2 is no time in s")
    try scratch.write(
      scratch.text(of: "capture.yaml").replacing("file: image", with: "file: img"),
      to: "capture.yaml")
    let told = try scratch.open().warnings.first { $0.code == .missingKey }
    #expect(told?.message == "no row of frames.jsonl names a picture in `img`")
  }

  @Test("A key of JSON that no row has is told with its name, and for times with its line")
  func absentKeys() throws {
    let scratch = try OpenFolderScratch.frames()
    let text = try scratch.text(of: "capture.yaml")
    try scratch.write(text.replacing("column: t", with: "column: u"), to: "capture.yaml")
    let error = try #require(try scratch.open().framesProblem)
    #expect(
      "\(error)".contains("line 3, color.time.column: no row of frames.jsonl has a value at `u`"),
      "\(error)")
    try scratch.write(text.replacing("camera.K.1", with: "camera.k.1"), to: "capture.yaml")
    let told = try scratch.open().warnings.map { "\($0.code.rawValue): \($0.message)" }
    #expect(
      told == [
        "missing-key: rows without all numbers of the intrinsics: no value at `camera.k.1` in line 1",
        "calibration-missing: no row has all numbers of the intrinsics; check the columns under intrinsics in "
          + "capture.yaml",
      ])
  }

  @Test("A list of numbers in place of one is told, and its first number is not taken")
  func listsForNumbers() throws {
    let scratch = try OpenFolderScratch.frames()
    let text = try scratch.text(of: "capture.yaml")
    try scratch.write(text.replacing("cx: camera.K.2", with: "cx: camera.K"), to: "capture.yaml")
    let capture = try scratch.open()
    #expect(
      capture.warnings.first { $0.code == .missingKey }?.message
        == "rows without all numbers of the intrinsics: `camera.K` of line 1 has 4 numbers and one is meant: "
        + "`camera.K.0` is the first")
    #expect(capture.intrinsics.value == nil)
  }

  @Test("Depth of another aspect than the pictures is told where one camera is to have taken both")
  func aspect() throws {
    let scratch = try OpenFolderScratch.frames()
    let text = try scratch.text(of: "capture.yaml")
    try scratch.write(
      text.replacing("width: 4, height: 3", with: "width: 3, height: 4"), to: "capture.yaml")
    #expect(try scratch.open().allCounts() == ["size-mismatch alignment": 1])
    try scratch.write(
      text.replacing(
        "width: 4, height: 3}",
        with: """
          width: 3, height: 4}
            intrinsics: {fx: 3, fy: 3, cx: 1, cy: 1.5, size: [3, 4]}
            colorFromDepth: {position: [0, 0, 0], quaternion: [0, 0, 0, 1], quaternionOrder: xyzw}
          """), to: "capture.yaml")
    #expect(try scratch.open().allCounts() == [:])
  }

  @Test(
    "A cell of motion that is no number is told with its place, and an empty one is no sample",
    arguments: [
      ("0.1,0,9.8,0,0,0", nil), (",,,0,0,0", nil),
      ("0.1,x0,9.8,0,0,0", "samples left out: `x0` in column `ay` of line 4 is no number"),
      ("0.1,0,9.8,0,,0 1", "samples left out: `0 1` in column `gz` of line 4 is no number"),
    ] as [(String, String?)])
  func motionCells(cells: String, message: String?) throws {
    let scratch = try OpenFolderScratch(
      """
      motion: {table: m.csv, time: {column: t, unit: s}, acceleration: m/s2, rotation: rad/s,
        accelerometer: [ax, ay, az], gyroscope: [gx, gy, gz]}
      """)
    let rows = (1...9).map { "\($0),\($0 == 3 ? cells : "0.1,0,9.8,0,0,0")\n" }
    try scratch.write("t,ax,ay,az,gx,gy,gz\n" + rows.joined(), to: "m.csv")
    let capture = try scratch.open()
    #expect(capture.warnings.map(\.message) == [message].compactMap(\.self))
    #expect(capture.warnings.allSatisfy { $0.code == .corruptRecord && $0.subject == "imu" })
    #expect(capture.imu.value?.samples.count == (cells.hasPrefix("0.1,0,9.8,0,0,0") ? 18 : 17))
  }

  @Test(
    "Positions that lie apart from the frames are an error, and those of another rate are none",
    arguments: [("s", true), ("ms", false), ("us", false)])
  func positions(unit: String, meets: Bool) throws {
    let scratch = try OpenFolderScratch.frames()
    try scratch.write(
      scratch.text(of: "capture.yaml")
        + "geo: {table: g.csv, time: {column: t, unit: \(unit)}, latitude: a, longitude: b}\n",
      to: "capture.yaml")
    let rows = (0..<40).map { "\(68_400 + $0),50,8\n" }
    try scratch.write("t,a,b\n" + rows.joined(), to: "g.csv")
    let geo = try scratch.open().geo
    #expect((geo.value != nil) == meets)
    let words = geo.error?.description ?? ""
    #expect(
      meets || words.contains("geo.time: none of 40 times is near that of a frame"), "\(words)")
    #expect(meets || words.contains("check `column` and `unit`"))
  }

  @Test("A capture.yml is told as the reason of a folder without captures")
  func otherName() throws {
    let scratch = try ScratchCapture(named: "walk")
    try scratch.write("scanmill-capture: 1\n", to: "capture.yml")
    let found = CaptureFinder(.builtIn).find(scratch.folder)
    #expect(found.declined?.hasSuffix("is named capture.yaml, and not capture.yml") == true)
  }

  @Test("A capture.yaml without the first key is told as the reason of a folder without captures")
  func withoutMark() throws {
    let scratch = try ScratchCapture(named: "walk")
    try scratch.write("color: {images: \"*.jpg\"}\n", to: "capture.yaml")
    let found = CaptureFinder(.builtIn).find(scratch.folder)
    #expect(found.captures.isEmpty)
    #expect(found.declined?.contains("only if `scanmill-capture: 1` is its first key") == true)
  }

  @Test(
    "Tables that are cut at any byte tell nothing that is wrong",
    arguments: ["frames.jsonl", "transforms.json"])
  func truncation(file: String) throws {
    let scratch = file == "frames.jsonl" ? try OpenFolderScratch.frames() : try .transforms()
    let whole = try scratch.open()
    let bytes = try scratch.bytes(of: file)
    let poses = try #require(whole.poses.value).rows
    for length in stride(from: 0, to: bytes.count, by: 7) {
      try scratch.write(Array(bytes.prefix(length)), to: file)
      guard let found = CaptureFinder(.builtIn).find(scratch.folder).captures.first,
        let cut = try? CaptureRegistry.builtIn.open(found)
      else { continue }
      for row in cut.poses.value?.rows ?? [] { #expect(poses.contains(row), "\(length)") }
    }
  }
}

@Suite("Open folder: its page")
struct OpenFolderPageTests {
  private let page = Fixtures.projectRoot.appending("docs/your-own-app.md")

  /// The keys of a block and of those in it, and the values that they can have.
  private func words(of block: OpenFolderBlock) -> Set<String> {
    block.keys.reduce(into: []) { words, key in
      words.insert(key.name)
      switch key.kind {
      case .map(let inner), .maps(let inner), .file(let inner):
        words.formUnion(self.words(of: inner))
      case .choice(let known): words.formUnion(known)
      default: break
      }
    }
  }

  @Test("It tells of every key and word, and its descriptions are right")
  func keys() throws {
    let text = try String(contentsOf: URL(filePath: page.string), encoding: .utf8)
    for word in words(of: .top).subtracting(["1", "true"]) {
      #expect(["`\(word)`", "`\(word): "].contains { text.contains($0) }, "\(word)")
    }
    let blocks = text.components(separatedBy: "\n```yaml\n").dropFirst()
    #expect(blocks.count == 3)
    for block in blocks {
      let scratch = try ScratchCapture(named: "page")
      try scratch.write(block.components(separatedBy: "\n```").first ?? "", to: "capture.yaml")
      _ = try OpenFolderDescription(scratch.folder.appending("capture.yaml"))
    }
  }
}
