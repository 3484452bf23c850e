import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

/// One picture of a bare stream is made undecodable: nothing else may move.
@Suite("A lost picture moves no other", .runsPrograms, .enabled(if: FFmpegPeer.isInstalled))
struct VideoHoleTests {
  enum Damage: String, CaseIterable, CustomTestStringConvertible {
    /// The whole slice behind its head.
    case ones, zeros, random
    /// The slice no longer says that it begins a picture.
    case firstBit
    /// The unit is taken for something else.
    case unitType
    var testDescription: String { rawValue }

    func apply(to unit: inout ArraySlice<UInt8>) {
      var random = SeededGenerator(seed: 3)
      switch self {
      case .ones: for index in unit.indices.dropFirst() { unit[index] = 0xff }
      case .zeros: for index in unit.indices.dropFirst() { unit[index] = 0 }
      case .random:
        for index in unit.indices.dropFirst() { unit[index] = .random(in: 4...255, using: &random) }
      case .firstBit: unit[unit.startIndex + 1] = 0x20
      case .unitType: unit[unit.startIndex] = unit[unit.startIndex] & 0xe0 | 12
      }
    }
  }

  /// Heads of the slices.
  static func slices(of bytes: [UInt8]) -> [Range<Int>] {
    var starts: [Int] = []
    for index in bytes.indices.dropLast(4)
    where bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
      starts.append(index + 3)
    }
    return starts.enumerated().compactMap { number, start in
      let end = number + 1 < starts.count ? starts[number + 1] - 4 : bytes.count
      return [1, 5].contains(bytes[start] & 0x1f) ? start..<end : nil
    }
  }

  static let streams: [[String]] = [
    ["-bf", "0", "-g", "10"],
    ["-bf", "3", "-g", "10", "-x264-params", "b-adapt=0:scenecut=0"],
    ["-bf", "0", "-g", "10", "-slices", "3"],
  ]

  @Test("Every picture keeps its index", arguments: Damage.allCases, streams)
  func keepsIndices(damage: Damage, options: [String]) throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.h264")
    try FFmpegPeer.makeVideo(
      whole, size: "64x48", pictures: 40, options + VideoIdentityTests.x264)
    let bytes = [UInt8](try whole.data())
    let intact = try decodedPictures(of: whole).pictures
    try #require(intact.count == 40)
    let slices = Self.slices(of: bytes)
    let perPicture = slices.count / 40
    // Decoded as 13 and 14: neither key pictures nor what later groups need.
    for number in [13, 14] {
      let slice = slices[number * perPicture]
      let isForGood = bytes[slice.lowerBound] & 0x60 != 0
      // What nothing refers to leaves no trace when its unit is taken for something else.
      if damage == .unitType, !isForGood { continue }
      var damaged = bytes
      damage.apply(to: &damaged[slice])
      let file = folder.path.appending("\(number).h264")
      try file.write(damaged)
      #expect(try VideoIndex.read(file).tracks.first?.pictureCount == 40, "\(damage) \(number)")
      for threads in [1, 3] {
        let decoded = try decodedPictures(of: file, threads: threads)
        let indices = decoded.indices.compactMap(\.self)
        #expect(indices.count == decoded.pictures.count)
        #expect(Set(indices).count == indices.count)
        #expect(indices.count >= (perPicture == 1 ? 39 : 38), "\(damage) \(number)")
        let moved = zip(indices, decoded.pictures).filter { index, picture in
          !(10..<20).contains(index) && picture != intact[index]
        }.map(\.0)
        #expect(moved.isEmpty, "\(damage) \(number)")
        if options[1] == "0", perPicture == 1, damage == .ones || damage == .unitType {
          #expect(Set(0..<40).subtracting(indices) == [number], "\(damage) \(number)")
        }
        if let hole = Set(0..<40).subtracting(indices).first {
          #expect((10..<20).contains(hole), "\(damage) \(number)")
        }
      }
    }
  }

  @Test("A stream cut inside its last picture keeps the picture and counts it")
  func cutLast() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("cut.h264")
    try FFmpegPeer.makeVideo(
      file, size: "64x48", pictures: 12, ["-bf", "0"] + VideoIdentityTests.x264)
    let bytes = [UInt8](try file.data())
    #expect(try decodedPictures(of: file).counts.damagedPictures == 0)
    let last = try #require(Self.slices(of: bytes).last)
    try file.write(bytes.prefix((last.lowerBound + last.upperBound) / 2))
    for threads in [1, 3] {
      let decoded = try decodedPictures(of: file, threads: threads)
      #expect(decoded.indices == Array(0..<12))
      #expect(decoded.counts.damagedPictures == 1)
    }
  }

  @Test("Damaged bytes in a movie are noticed and move no picture", arguments: [0, 2])
  func damagedMovie(bFrames: Int) throws {
    let folder = try TemporaryFolder()
    let bare = folder.path.appending("whole.h264")
    let movie = folder.path.appending("whole.mp4")
    try FFmpegPeer.makeVideo(
      movie, size: "64x48", pictures: 40,
      ["-bf", "\(bFrames)", "-g", "10"] + VideoIdentityTests.x264)
    try PeerProgram.ffmpeg.run(["-v", "error", "-i", "\(movie)", "-c", "copy", "\(bare)"])
    let intact = try decodedPictures(of: movie).pictures
    let stream = [UInt8](try bare.data())
    var bytes = [UInt8](try movie.data())
    // In the second group of pictures.
    let slice = stream[try #require(Self.slices(of: stream).dropFirst(14).first)]
    let head = Array(slice.prefix(40))
    let place = try #require(
      bytes.indices.dropLast(40).first {
        bytes[$0] == head[0] && bytes[$0..<($0 + 40)].elementsEqual(head)
      })
    for index in (place + 1)..<(place + slice.count) { bytes[index] = 0xff }
    try movie.write(bytes)
    #expect(try VideoIndex.read(movie).tracks.first?.pictureCount == 40)
    for threads in [1, 3] {
      let decoded = try decodedPictures(of: movie, threads: threads)
      let indices = decoded.indices.compactMap(\.self)
      #expect(Set(indices).count == decoded.pictures.count)
      #expect(40 - indices.count + decoded.counts.damagedPictures > 0)
      let moved = zip(indices, decoded.pictures).filter { index, picture in
        !(10..<20).contains(index) && picture != intact[index]
      }.map(\.0)
      #expect(moved.isEmpty)
    }
  }

  @Test("Pictures whose size changes within the stream keep their own and are counted")
  func sizeChanges() throws {
    let folder = try TemporaryFolder()
    var bytes = Data()
    for (size, pictures) in [("64x48", 5), ("96x64", 7), ("64x48", 2)] {
      let part = folder.path.appending("\(pictures).h264")
      try FFmpegPeer.makeVideo(
        part, size: size, pictures: pictures, ["-bf", "2"] + VideoIdentityTests.x264)
      bytes += try part.data()
    }
    let file = folder.path.appending("changing.h264")
    try bytes.write(to: URL(filePath: file.string))
    let track = try #require(try VideoIndex.read(file).tracks.first)
    #expect(track.pictureCount == 14)
    #expect(track.picturesOfOtherSize == 7)
    #expect((track.storedWidth, track.storedHeight) == (64, 48))
    for threads in [1, 3] {
      let decoded = try decodedPictures(of: file, threads: threads)
      #expect(decoded.indices == Array(0..<14))
      #expect(decoded.pictures.map(\.width) == (0..<14).map { (5..<12).contains($0) ? 96 : 64 })
      #expect(decoded.counts.damagedPictures == 0)
    }
  }

  @Test("A container's time that goes back moves no picture")
  func timeGoesBack() throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    let file = folder.path.appending("back.mov")
    try FFmpegPeer.makeVideo(whole, pictures: 20, ["-bf", "0"] + VideoIdentityTests.x264)
    let back = "setts=pts='if(eq(N,10),PTS-1.5*DURATION,PTS)':dts='DTS-2*DURATION'"
    let status = try PeerProgram.ffmpeg.run([
      "-nostdin", "-v", "error", "-i", "\(whole)", "-c", "copy", "-bsf:v", back, "\(file)",
    ])
    try #require(status == 0)
    let track = try #require(try VideoIndex.read(file).tracks.first)
    #expect(track.pictureCount == 20)
    #expect(track.backwardSteps == 1)
    let expected = try FFmpegPeer.pictures(of: whole, threads: 1)
    for threads in [1, 2, 4] {
      let decoded = try decodedPictures(of: file, threads: threads)
      #expect(decoded.indices == Array(0..<20))
      expectSame(decoded.pictures, expected, "times go back")
    }
  }

  @Test(
    "A real phone clip with a time that goes back",
    .enabled(if: RealMovies.areThere))
  func realClip() throws {
    let track = try #require(
      try VideoIndex.read(RealMovies.folder.appending("mapillary_hevc.mov")).tracks.first)
    #expect(track.pictureCount == 146)
    #expect(track.backwardSteps == 1)
    #expect(track.presentationTicks[5...7] == [7007, 4505, 9009])
  }
}

/// Real recordings beside the project, where they are.
enum RealMovies {
  static let folder = Fixtures.projectRoot.removingLastComponent().appending("shared/real/movies")

  static var areThere: Bool {
    let areThere = FileSystem.exists(folder)
    if !areThere { print("note: no real movies at \(folder): their tests are skipped") }
    return areThere
  }
}

/// What a damaged stream gives is compared with the ffmpeg program on one thread: with several, its own
/// output changes from run to run.
@Suite("Damaged videos", .enabled(if: FFmpegPeer.isInstalled))
struct VideoDamageTests {
  enum Damage: String, CaseIterable, CustomTestStringConvertible {
    case cut, flippedBits, hole, zeros, startBetweenKeyPictures

    var testDescription: String { rawValue }

    func apply(to bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
      var damaged = bytes
      let place = Int.random(in: (bytes.count / 8)..<(bytes.count * 3 / 4), using: &random)
      switch self {
      case .cut: damaged.removeLast(bytes.count - place)
      case .flippedBits:
        for _ in 0..<10 {
          let index = Int.random(in: 1000..<bytes.count, using: &random)
          damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
      case .hole: damaged.removeSubrange(place..<(place + bytes.count / 20))
      case .zeros:
        for index in place..<(place + bytes.count / 30) { damaged[index] = 0 }
      case .startBetweenKeyPictures:
        // From the first picture after the first key picture on (type 1).
        let start = bytes.indices.dropLast(5).first {
          bytes[$0] == 0 && bytes[$0 + 1] == 0 && bytes[$0 + 2] == 1 && bytes[$0 + 3] & 0x1f == 1
        }
        damaged.removeFirst(start ?? 0)
      }
      return damaged
    }
  }

  @Test(
    "A damaged bare stream gives the pictures that ffmpeg gives, whatever the number of threads",
    arguments: Damage.allCases, [0, 3])
  func bareStreams(damage: Damage, bFrames: Int) throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.h264")
    try FFmpegPeer.makeVideo(
      whole, ["-bf", "\(bFrames)", "-g", "12"] + VideoIdentityTests.x264)
    let bytes = [UInt8](try whole.data())
    var random = SeededGenerator(seed: 11)
    for round in 0..<Rounds.of(2, soak: 4) {
      let file = folder.path.appending("\(round).h264")
      try file.write(damage.apply(to: bytes, &random))
      let expected = try FFmpegPeer.pictures(of: file, threads: 1)
      #expect(!expected.isEmpty)
      expectSame(try decodedPictures(of: file).pictures, expected, "\(damage) \(round)")
      expectSame(
        try decodedPictures(of: file, threads: 3).pictures, expected, "\(damage) \(round), threads")
    }
  }

  @Test("A movie that ends early gives the pictures that are there, and says so")
  func cutMovies() throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    try FFmpegPeer.makeVideo(
      whole, ["-bf", "2", "-g", "12", "-movflags", "faststart"] + VideoIdentityTests.x264)
    #expect(try VideoIndex.read(whole).endsEarly == false)
    let bytes = [UInt8](try whole.data())
    for part in [40, 55, 70, 90, 99] {
      let file = folder.path.appending("\(part).mp4")
      try file.write(bytes.prefix(bytes.count * part / 100))
      let expected = try FFmpegPeer.pictures(of: file, threads: 1)
      let index = try VideoIndex.read(file)
      #expect(index.endsEarly)
      #expect(index.tracks.first?.pictureCount == expected.count)
      expectSame(try decodedPictures(of: file).pictures, expected, "\(part) %")
    }
  }

  @Test("No movie cut anywhere and none with wrong bytes in its index crashes or hangs")
  func nothingCrashes() throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.mp4")
    try FFmpegPeer.makeVideo(
      whole, size: "32x32", pictures: 6, ["-movflags", "faststart"] + VideoIdentityTests.x264)
    let bytes = [UInt8](try whole.data())
    let file = folder.path.appending("damaged.mp4")
    var opened = 0
    func read(_ damaged: [UInt8]) throws {
      try file.write(damaged)
      guard let index = try? VideoIndex.read(file) else { return }
      opened += 1
      #expect(index.tracks.allSatisfy { $0.pictureCount <= 10_000 })
      _ = try? decodedPictures(of: file)
    }
    for count in stride(
      from: 0, to: bytes.count, by: max(1, bytes.count / Rounds.of(50, soak: 150)))
    {
      try read(Array(bytes.prefix(count)))
    }
    var random = SeededGenerator(seed: 5)
    for _ in 0..<Rounds.of(80, soak: 200) {
      var damaged = bytes
      for _ in 0..<3 {
        damaged[Int.random(in: 0..<min(900, bytes.count), using: &random)] =
          UInt8.random(in: 0...255, using: &random)
      }
      try read(damaged)
    }
    #expect(opened > 8)
  }
}
