import CFFmpeg
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite("Accurate conversion")
struct VideoColorTests {
  /// A frame of noise in planes of 8 bits.
  static func frame(_ width: Int, _ height: Int, _ seed: UInt64) throws -> DecodedPicture {
    let frame = try #require(av_frame_alloc())
    frame.pointee.width = Int32(width)
    frame.pointee.height = Int32(height)
    frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
    try #require(av_frame_get_buffer(frame, 0) >= 0)
    var random = SeededGenerator(seed: seed)
    let data = frame.pointee.data
    let strides = frame.pointee.linesize
    for (plane, stride, rows) in [
      (data.0, strides.0, height), (data.1, strides.1, (height + 1) / 2),
      (data.2, strides.2, (height + 1) / 2),
    ] {
      for index in 0..<(Int(stride) * rows) {
        plane?[index] = UInt8(truncatingIfNeeded: random.next() >> 20)
      }
    }
    var owner: UnsafeMutablePointer<AVFrame>? = frame
    defer { av_frame_free(&owner) }
    return try #require(
      DecodedPicture(
        moving: frame, outputIndex: 0, displayIndex: 0, orientation: .upright))
  }

  /// Converts in real numbers, straight from the definition.
  static func reference(
    _ picture: DecodedPicture, red: Double, blue: Double, isFull: Bool,
    location: AVChromaLocation
  ) -> [Double] {
    let (width, height) = (picture.storedWidth, picture.storedHeight)
    let data = picture.frame.pointee.data
    let strides = picture.frame.pointee.linesize
    func sample(_ plane: UnsafeMutablePointer<UInt8>?, _ stride: Int32, _ x: Int, _ y: Int)
      -> Double
    {
      let column = min(max(x, 0), (width + 1) / 2 - 1)
      let row = min(max(y, 0), (height + 1) / 2 - 1)
      return Double(plane?[row * Int(stride) + column] ?? 0)
    }
    let isBetweenColumns = location == AVCHROMA_LOC_CENTER
    let isOnRows = location == AVCHROMA_LOC_TOPLEFT
    func chroma(_ plane: UnsafeMutablePointer<UInt8>?, _ stride: Int32, _ x: Int, _ y: Int)
      -> Double
    {
      let u = (Double(x) - (isBetweenColumns ? 0.5 : 0)) / 2
      let v = (Double(y) - (isOnRows ? 0 : 0.5)) / 2
      let (left, top) = (u.rounded(.down), v.rounded(.down))
      let (a, b) = (u - left, v - top)
      let (x0, y0) = (Int(left), Int(top))
      var sum: Double = (1 - a) * (1 - b) * sample(plane, stride, x0, y0)
      sum += a * (1 - b) * sample(plane, stride, x0 + 1, y0)
      sum += (1 - a) * b * sample(plane, stride, x0, y0 + 1)
      sum += a * b * sample(plane, stride, x0 + 1, y0 + 1)
      return sum
    }
    var result: [Double] = []
    let green = 1 - red - blue
    for y in 0..<height {
      for x in 0..<width {
        let luma = Double(data.0?[y * Int(strides.0) + x] ?? 0)
        let yy = isFull ? luma : (luma - 16) * 255 / 219
        let scale = isFull ? 1 : 255.0 / 224
        let cb = (chroma(data.1, strides.1, x, y) - 128) * scale
        let cr = (chroma(data.2, strides.2, x, y) - 128) * scale
        let r: Double = yy + 2 * (1 - red) * cr
        let b: Double = yy + 2 * (1 - blue) * cb
        let g: Double = (yy - red * r - blue * b) / green
        for value in [r, g, b] { result.append(min(max(value, 0), 255)) }
      }
    }
    return result
  }

  @Test(
    "Every value is the exact one rounded, within a fiftieth of a step",
    arguments: [
      (ColorMatrix.bt601, 0.299, 0.114), (.bt709, 0.2126, 0.0722), (.fcc, 0.30, 0.11),
      (.smpte240m, 0.212, 0.087), (.bt2020, 0.2627, 0.0593),
    ], [ColorRange.limited, .full])
  func exactValues(_ matrix: (ColorMatrix, Double, Double), range: ColorRange) throws {
    for (width, height) in [(2, 2), (6, 4), (17, 9), (64, 48), (33, 31), (1, 1)] {
      for location in [AVCHROMA_LOC_UNSPECIFIED, AVCHROMA_LOC_CENTER, AVCHROMA_LOC_TOPLEFT] {
        let picture = try Self.frame(width, height, UInt64(width))
        picture.frame.pointee.chroma_location = location
        var converter = ColorConverter(conversion: .accurate, matrix: matrix.0, range: range)
        var rgb: [UInt8] = []
        try converter.convert(picture, into: &rgb)
        let exact = Self.reference(
          picture, red: matrix.1, blue: matrix.2, isFull: range == .full, location: location)
        let worst: Double = zip(rgb, exact).map { abs(Double($0.0) - $0.1) }.max() ?? 0
        #expect(rgb.count == exact.count)
        #expect(worst <= 0.52, "\(width)x\(height) \(location)")
      }
    }
  }

  @Test("Tags of the stream and parameters say the same", arguments: ColorConversion.allCases)
  func parametersReplaceTags(conversion: ColorConversion) throws {
    let picture = try Self.frame(64, 48, 3)
    var rgb: [UInt8] = []
    var tagged: [UInt8] = []
    for matrix in ColorMatrix.allCases {
      for range in ColorRange.allCases {
        picture.frame.pointee.colorspace = AVCOL_SPC_UNSPECIFIED
        picture.frame.pointee.color_range = AVCOL_RANGE_UNSPECIFIED
        var byParameter = ColorConverter(conversion: conversion, matrix: matrix, range: range)
        try byParameter.convert(picture, into: &rgb)
        picture.frame.pointee.colorspace =
          switch matrix {
          case .bt601: AVCOL_SPC_SMPTE170M
          case .bt709: AVCOL_SPC_BT709
          case .fcc: AVCOL_SPC_FCC
          case .smpte240m: AVCOL_SPC_SMPTE240M
          case .bt2020: AVCOL_SPC_BT2020_NCL
          }
        picture.frame.pointee.color_range = range == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        var byTag = ColorConverter(conversion: conversion)
        try byTag.convert(picture, into: &tagged)
        #expect(rgb == tagged, "\(matrix) \(range)")
      }
    }
  }

  @Test("Constants are what their formula says")
  func constants() {
    func check(_ weights: AccurateWeights, _ red: Double, _ blue: Double, _ isFull: Bool) {
      let green = 1 - red - blue
      let step: Double = (isFull ? 1 : 255.0 / 224) * 4096
      let redFromV: Double = 2 * (1 - red) * step
      let blueFromU: Double = 2 * (1 - blue) * step
      let luma: Double = (isFull ? 1 : 255.0 / 219) * 16_384
      let expected: [Double] = [
        luma, redFromV, -blueFromU * blue / green, -redFromV * red / green, blueFromU,
      ]
      let values: [Int16] = [
        weights.luma, weights.redFromV, weights.greenFromU, weights.greenFromV, weights.blueFromU,
      ]
      #expect(values.map { Double($0) } == expected.map { $0.rounded() })
      #expect(weights.black == (isFull ? 0 : 16))
    }
    check(.bt601Limited, 0.299, 0.114, false)
    check(.bt601Full, 0.299, 0.114, true)
    check(.bt709Limited, 0.2126, 0.0722, false)
    check(.bt709Full, 0.2126, 0.0722, true)
    check(.fccLimited, 0.30, 0.11, false)
    check(.fccFull, 0.30, 0.11, true)
    check(.smpte240mLimited, 0.212, 0.087, false)
    check(.smpte240mFull, 0.212, 0.087, true)
    check(.bt2020Limited, 0.2627, 0.0593, false)
    check(.bt2020Full, 0.2627, 0.0593, true)
  }

  @Test("Planes of any size turn as their elements one by one", arguments: [1, 2, 3])
  func turns(elementBytes: Int) {
    for (width, height) in [(1, 1), (7, 9), (8, 8), (16, 8), (65, 70), (130, 3), (64, 129)] {
      let count = width * height * elementBytes
      var random = SeededGenerator(seed: UInt64(count))
      let source = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      for turns in 0..<4 {
        let outWidth = turns % 2 == 1 ? height : width
        let outHeight = turns % 2 == 1 ? width : height
        var target = [UInt8](repeating: 0, count: count)
        source.withUnsafeBytes { source in
          target.withUnsafeMutableBytes { target in
            if let from = source.baseAddress, let to = target.baseAddress {
              PlaneRotation.turn(
                from, stride: width * elementBytes, width: width, height: height,
                elementBytes: elementBytes, turns: turns, into: to,
                stride: outWidth * elementBytes)
            }
          }
        }
        var expected: [UInt8] = []
        for y in 0..<outHeight {
          for x in 0..<outWidth {
            let (column, row) =
              switch turns {
              case 1: (y, height - 1 - x)
              case 2: (width - 1 - x, height - 1 - y)
              case 3: (width - 1 - y, x)
              default: (x, y)
              }
            let place = (row * width + column) * elementBytes
            expected += source[place..<(place + elementBytes)]
          }
        }
        #expect(target == expected, "\(width)x\(height) \(turns)")
      }
    }
  }

  @Test(
    "An accurately converted video is turned like the other", .enabled(if: FFmpegPeer.isInstalled))
  func turnedVideo() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("a.mov")
    var settings = VideoEncoderSettings(width: 64, height: 48, container: .mov)
    settings.clockwiseQuarterTurns = 1
    try VideoIndexTests.make(file, ticks: [0, 20, 40], settings)
    let quick = try decodedPictures(of: file).pictures
    let accurate = try decodedPictures(of: file, conversion: .accurate).pictures
    #expect(quick.count == 3 && accurate.count == 3)
    for (a, b) in zip(quick, accurate) {
      #expect((a.width, a.height) == (48, 64))
      #expect((b.width, b.height) == (48, 64))
      let mean = zip(a.rgb, b.rgb).map { abs(Int($0) - Int($1)) }.reduce(0, +) / a.rgb.count
      #expect(mean <= 3)
    }
  }
}

@Suite("What a video says of its colors", .runsPrograms, .enabled(if: FFmpegPeer.isInstalled))
struct VideoColorDescriptionTests {
  struct Video: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var options: [String]
    var file = "video.mov"
    var bitDepth = 8
    var transfer: String?
    var primaries: String?
    var matrix: String?
    var range: String?
    var assumedMatrix: ColorMatrix?
    var assumedRange: ColorRange?
    var isUnusual = false
  }

  static func tags(_ transfer: String, _ primaries: String, _ matrix: String) -> [String] {
    [
      "-color_trc", transfer, "-color_primaries", primaries, "-colorspace", matrix, "-color_range",
      "tv",
    ]
  }

  static let x265 = ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1"]
  static let ten = ["-pix_fmt", "yuv420p10le"]
  static let eight = ["-pix_fmt", "yuv420p"]
  static let hlg = tags("arib-std-b67", "bt2020", "bt2020nc")
  static let pq = tags("smpte2084", "bt2020", "bt2020nc")

  static let videos = [
    Video(
      testDescription: "HLG in HEVC", options: x265 + ten + hlg, bitDepth: 10,
      transfer: "arib-std-b67", primaries: "bt2020", matrix: "bt2020nc", range: "tv",
      isUnusual: true),
    Video(
      testDescription: "PQ in HEVC", options: x265 + ten + pq, file: "video.mp4", bitDepth: 10,
      transfer: "smpte2084", primaries: "bt2020", matrix: "bt2020nc", range: "tv", isUnusual: true),
    Video(
      testDescription: "PQ in H.264 of ten bits", options: ["-c:v", "libx264"] + ten + pq,
      bitDepth: 10, transfer: "smpte2084", primaries: "bt2020", matrix: "bt2020nc", range: "tv",
      isUnusual: true),
    Video(
      testDescription: "PQ in a bare stream", options: ["-c:v", "libx264"] + ten + pq,
      file: "video.h264", bitDepth: 10, transfer: "smpte2084", primaries: "bt2020",
      matrix: "bt2020nc", range: "tv", isUnusual: true),
    Video(
      testDescription: "HLG in Matroska", options: x265.dropLast(2) + ten + hlg, file: "video.mkv",
      bitDepth: 10, transfer: "arib-std-b67", primaries: "bt2020", matrix: "bt2020nc", range: "tv",
      isUnusual: true),
    Video(
      testDescription: "linear",
      options: ["-c:v", "libx264"] + eight + tags("linear", "bt709", "bt709"),
      transfer: "linear", primaries: "bt709", matrix: "bt709", range: "tv", isUnusual: true),
    Video(
      testDescription: "ten bits without HDR",
      options: x265 + ten + tags("bt709", "bt709", "bt709"),
      bitDepth: 10, transfer: "bt709", primaries: "bt709", matrix: "bt709", range: "tv"),
    Video(
      testDescription: "BT.601",
      options: ["-c:v", "libx264"] + eight + tags("smpte170m", "smpte170m", "smpte170m"),
      transfer: "smpte170m", primaries: "smpte170m", matrix: "smpte170m", range: "tv"),
    Video(
      testDescription: "sRGB, full range",
      options: [
        "-c:v", "libx264", "-pix_fmt", "yuv420p", "-color_trc", "iec61966-2-1", "-color_range",
        "pc",
        "-colorspace", "bt709", "-color_primaries", "bt709",
      ],
      transfer: "iec61966-2-1", primaries: "bt709", matrix: "bt709", range: "pc"),
    Video(
      testDescription: "untagged H.264", options: ["-c:v", "libx264"] + eight,
      assumedMatrix: .bt601, assumedRange: .limited),
    Video(
      testDescription: "untagged HEVC", options: x265 + ten, bitDepth: 10, range: "tv",
      assumedMatrix: .bt601),
    Video(
      testDescription: "a matrix that swscale does not know",
      options: ["-c:v", "libx264"] + eight + tags("bt709", "bt709", "ycgco"), transfer: "bt709",
      primaries: "bt709", matrix: "ycgco", range: "tv", assumedMatrix: .bt601),
    Video(
      testDescription: "MPEG-4 part 2, untagged", options: ["-c:v", "mpeg4"], file: "video.mp4",
      assumedMatrix: .bt601, assumedRange: .limited),
  ]

  @Test("Bits, transfer, primaries, matrix and range, and what is assumed", arguments: videos)
  func description(video: Video) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending(video.file)
    try FFmpegPeer.makeVideo(
      file, size: "64x64", pictures: 3,
      filter:
        "setparams=range=unknown:color_primaries=unknown:color_trc=unknown:colorspace=unknown",
      video.options)
    let color = try #require(try VideoIndex.read(file).tracks.first).color
    #expect(color.bitDepth == video.bitDepth)
    #expect(color.transfer == video.transfer)
    #expect(color.primaries == video.primaries)
    #expect(color.matrix == video.matrix)
    #expect(color.range == video.range)
    #expect(color.assumedMatrix == video.assumedMatrix)
    #expect(color.assumedRange == video.assumedRange)
    #expect(color.isUnusualTransfer == video.isUnusual)
    // What is assumed is what the pictures are made with.
    if let assumed = video.assumedMatrix {
      let plain = try decodedPictures(of: file).pictures
      let decoder = try VideoDecoder(file)
      var converter = ColorConverter(matrix: assumed, range: video.assumedRange)
      var rgb: [UInt8] = []
      let first = try #require(try decoder.next())
      try converter.convert(first, into: &rgb)
      #expect(plain.first?.rgb == rgb)
    }
    // And the pictures stay those of the ffmpeg program.
    expectSame(
      try decodedPictures(of: file).pictures, try FFmpegPeer.pictures(of: file, threads: 1),
      "\(video)")
  }

  @Test(
    "What only the container says of an HEVC movie is told, and that the decoder does not heed it")
  func containerAlone() throws {
    let folder = try TemporaryFolder()
    let plain = folder.path.appending("plain.mov")
    let file = folder.path.appending("tagged.mov")
    try FFmpegPeer.makeVideo(plain, size: "64x64", pictures: 3, Self.x265 + Self.ten)
    try PeerProgram.ffmpeg.run(
      ["-nostdin", "-v", "error", "-i", "\(plain)", "-c", "copy"] + Self.pq + ["\(file)"])
    let color = try #require(try VideoIndex.read(file).tracks.first).color
    #expect(color.transfer == "smpte2084" && color.isUnusualTransfer)
    #expect(color.assumedMatrix == .bt601)
    expectSame(
      try decodedPictures(of: file).pictures, try FFmpegPeer.pictures(of: file, threads: 1), "colr")
  }

  @Test("Apple's logarithmic transfer is recognized by its name in the file")
  func appleLog() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("log.mov")
    try FFmpegPeer.makeVideo(
      file, size: "64x64", pictures: 3,
      Self.x265 + Self.ten + [
        "-movflags", "use_metadata_tags", "-metadata", "transfer=com.apple.log",
      ])
    let color = try #require(try VideoIndex.read(file).tracks.first).color
    #expect(color.transfer == "apple-log" && color.isUnusualTransfer)
  }
}
