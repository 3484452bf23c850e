@testable import Captures
@testable import Core
@testable import Media
import Testing

@Suite("Pictures whose times count frames")
struct CountedPicturesTests {
  struct Movie: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Sixtieths of a second since the picture of frame 0; `nil`: other times.
    var counters: [Int]?
    var others: Int
    /// Number of rows; `nil`: as many as `others`.
    var rows: Int?
    var frames: [Int]
    var isDoubtful = false
    var divider: Int? = 1
    var rowStep: Int?
    var isFromStart = true
    var showsStart = false
    var isStray = false
    var slack = 0
  }

  static let movies = [
    Movie(testDescription: "whole", counters: [0, 1, 2, 3], others: 4, frames: [0, 1, 2, 3]),
    Movie(testDescription: "holes", counters: [0, 2, 3, 5], others: 6, frames: [0, 2, 3, 5]),
    Movie(
      testDescription: "the first is lost", counters: [1, 2, 3], others: 4, frames: [1, 2, 3],
      isFromStart: false),
    Movie(
      testDescription: "the first is lost, and as many of all others", counters: [1, 2, 3],
      others: 3, frames: [0, 1, 2], isDoubtful: true, isFromStart: false),
    Movie(
      testDescription: "every second is lost", counters: [0, 2, 4, 6], others: 8,
      frames: [0, 2, 4, 6], slack: 1),
    Movie(
      testDescription: "half the rate, all there", counters: [0, 2, 4, 6], others: 4,
      frames: [0, 1, 2, 3]),
    Movie(
      testDescription: "half the rate or every second lost, and the end", counters: [0, 2, 4],
      others: 12, frames: [0, 1, 2], isDoubtful: true),
    Movie(
      testDescription: "other times", counters: nil, others: 5, frames: [0, 1, 2],
      isDoubtful: true),
    Movie(
      testDescription: "numbers beyond what is plausible", counters: [0, 1, 9000], others: 5,
      frames: [0, 1, 2], isDoubtful: true),
    Movie(
      testDescription: "moved to the start of the movie, holes", counters: [1, 2, 4, 5], others: 5,
      frames: [0, 1, 3, 4], isStray: true),
    Movie(
      testDescription: "30 per second with holes", counters: [0, 2, 6, 8], others: 5,
      frames: [0, 1, 3, 4], divider: nil, showsStart: true, isStray: true),
    Movie(
      testDescription: "30 per second, every second lost", counters: [0, 4, 8], others: 6,
      frames: [0, 2, 4], divider: nil, rowStep: 2, showsStart: true, isStray: true),
    Movie(
      testDescription: "even distances, and nothing tells the step", counters: [0, 4, 8], others: 6,
      frames: [0, 1, 2], isDoubtful: true, divider: nil, showsStart: true, isStray: true),
    Movie(
      testDescription: "a copy without its hidden first picture", counters: [1, 2, 3, 4], others: 5,
      frames: [1, 2, 3, 4], isDoubtful: true, divider: nil, isStray: true, slack: 1),
    Movie(
      testDescription: "an even copy that lacks two", counters: [1, 2, 3], others: 5,
      frames: [0, 1, 2], isDoubtful: true, divider: nil, isStray: true),
    Movie(
      testDescription: "an even copy with all", counters: [1, 2, 3], others: 3,
      frames: [0, 1, 2], divider: nil, isStray: true),
    Movie(
      testDescription: "an even copy and as many rows, where another stream has more",
      counters: [1, 2, 3], others: 5, rows: 3, frames: [0, 1, 2], isDoubtful: true, divider: nil,
      isStray: true),
    Movie(
      testDescription: "as many rows, where another stream has more, and the movie shows its start",
      counters: [0, 1, 2], others: 5, rows: 3, frames: [0, 1, 2], divider: nil, showsStart: true,
      isStray: true),
    Movie(
      testDescription: "as many keys, where another stream has one frame more",
      counters: [0, 1, 2],
      others: 4, rows: 3, frames: [0, 1, 2], isDoubtful: true, slack: 1),
    Movie(
      testDescription: "fewer keys, where another stream has one frame more", counters: [0, 1, 2],
      others: 4, rows: 2, frames: [0, 1, 2], slack: 1),
    Movie(
      testDescription: "as many keys in other places, where depth proves that none is behind",
      counters: [0, 1, 3], others: 4, rows: 3, frames: [0, 1, 3]),
    Movie(
      testDescription: "a copy at half the rate without its hidden first picture, with holes",
      counters: [1, 5, 7, 11], others: 7, frames: [1, 3, 4, 6], isDoubtful: true, divider: nil,
      isStray: true, slack: 1),
    Movie(
      testDescription: "a third of the rate with a hole, counted from another place",
      counters: [1, 4, 10], others: 4, frames: [0, 1, 3], isDoubtful: true, divider: nil,
      isStray: true),
    Movie(
      testDescription: "the last ones are missing", counters: [0, 1, 2], others: 5,
      frames: [0, 1, 2], divider: nil, showsStart: true, isStray: true),
  ]

  @Test(
    "Each picture has the frame of its number, as far as numbers can be believed", arguments: movies
  )
  func frames(movie: Movie) {
    let pictures = CountedPictures(
      movie.counters, count: movie.counters?.count ?? movie.frames.count,
      isFromStart: movie.isFromStart, showsStart: movie.showsStart, divider: movie.divider,
      rowStep: movie.rowStep, copyLacksFirst: movie.isStray && !movie.showsStart,
      CountedPictures.Partners(
        length: movie.others, count: movie.rows ?? movie.others, has: { $0 < movie.others }))
    #expect(pictures.frames == movie.frames)
    #expect((pictures.doubt != nil) == movie.isDoubtful)
    #expect(pictures.slack == movie.slack)
    if movie.isDoubtful { #expect(pictures.doubt?.contains("may be shifted by up to") == true) }
  }
}

@Suite("The row of a trimmed movie's first picture")
struct HiddenStartTests {
  struct Movie: Sendable {
    var what: String
    var hidden: Int
    var after = 0
    var milliseconds: Int64
    var pictures: Int
    var rows: Int
    /// Step of the rows, milliseconds; 0: they have no times.
    var step: Int64 = 33
    var firstRow: Int
    /// `nil`: no doubt.
    var off: String?
  }

  static let movies = [
    Movie(what: "nothing hidden", hidden: 0, milliseconds: 0, pictures: 20, rows: 30, firstRow: 0),
    Movie(
      what: "as many rows as are shown", hidden: 10, milliseconds: 330, pictures: 20, rows: 20,
      firstRow: 0),
    Movie(
      what: "a row for each", hidden: 10, milliseconds: 330, pictures: 20, rows: 30, firstRow: 10),
    Movie(
      what: "a row for each, times made up", hidden: 10, milliseconds: 160, pictures: 20, rows: 30,
      firstRow: 10),
    Movie(
      what: "hidden at both ends", hidden: 10, after: 5, milliseconds: 330, pictures: 20, rows: 35,
      firstRow: 10),
    Movie(
      what: "a row for each, no times", hidden: 10, milliseconds: 330, pictures: 20, rows: 30,
      step: 0, firstRow: 10),
    Movie(
      what: "more rows, which take as long", hidden: 10, milliseconds: 330, pictures: 20, rows: 40,
      firstRow: 10,
      off: "up to 330 ms"),
    Movie(
      what: "more rows without times", hidden: 10, milliseconds: 330, pictures: 20, rows: 40,
      step: 0,
      firstRow: 10, off: "up to 10 rows"),
    Movie(
      what: "more rows of another rate", hidden: 10, milliseconds: 330, pictures: 20, rows: 40,
      step: 100,
      firstRow: 0, off: "330 ms"),
    Movie(
      what: "too few rows", hidden: 10, milliseconds: 330, pictures: 20, rows: 25, firstRow: 0,
      off: "330 ms"),
    Movie(what: "no rows", hidden: 10, milliseconds: 330, pictures: 20, rows: 0, firstRow: 0),
  ]

  @Test("Counts decide, then times; else the message says how far off it may be", arguments: movies)
  func row(movie: Movie) {
    var hidden = HiddenPictures()
    hidden.before = movie.hidden
    hidden.after = movie.after
    hidden.nanoseconds = movie.milliseconds * 1_000_000
    let times = (0..<movie.rows).map { row -> Timestamp? in
      movie.step == 0
        ? nil : Timestamp(nanoseconds: 5_000_000_000 + Int64(row) * movie.step * 1_000_000)
    }
    let start = HiddenStart(hidden, pictures: movie.pictures, times: times)
    #expect(start.firstRow == movie.firstRow, "\(movie.what)")
    #expect((start.doubt == nil) == (movie.off == nil), "\(movie.what)")
    if let off = movie.off { #expect(start.doubt?.hasSuffix(off) ?? false, "\(start.doubt ?? "")") }
  }
}

@Suite("Intrinsics follow the size of the pictures")
struct ColorFitTests {
  @Test("Pictures of the stated size leave the numbers alone")
  func same() throws {
    let fit = ColorFit(
      stated: PictureSize(width: 1296, height: 968), stored: PictureSize(width: 1296, height: 968))
    #expect(!fit.isMismatch)
    #expect(fit.obstacle == nil)
    let camera = try #require(fit.camera(Intrinsics(fx: 1170, fy: 1171, cx: 647.75, cy: 483.75)))
    #expect(
      camera == PinholeCamera(width: 1296, height: 968, fx: 1170, fy: 1171, cx: 647.75, cy: 483.75))
  }

  @Test(
    "Pictures of the same shape rescale them, outer borders in place",
    arguments: [(648, 484), (640, 480), (2592, 1936)])
  func scaled(width: Int, height: Int) throws {
    let fit = ColorFit(
      stated: PictureSize(width: 1296, height: 968),
      stored: PictureSize(width: width, height: height))
    #expect(fit.isMismatch)
    let camera = try #require(fit.camera(Intrinsics(fx: 1170, fy: 1171, cx: 647.75, cy: 483.75)))
    let (sx, sy) = (Double(width) / 1296, Double(height) / 968)
    #expect((camera.width, camera.height) == (width, height))
    #expect(camera.fx == 1170 * sx)
    #expect(camera.cy == (483.75 + 0.5) * sy - 0.5)
    let warnings = WarningCollector()
    fit.report(to: warnings)
    #expect(warnings.warnings.map(\.code) == [.sizeMismatch])
    #expect(warnings.warnings.map(\.count) == [1])
  }

  @Test("Pictures of another shape have no intrinsics")
  func otherShape() {
    let fit = ColorFit(
      stated: PictureSize(width: 1296, height: 968), stored: PictureSize(width: 1280, height: 720))
    #expect(fit.isMismatch)
    #expect(fit.obstacle?.contains("1280x720") == true)
  }

  @Test("The upright size of turned pictures is theirs")
  func turned() {
    #expect(
      !ColorFit(
        stated: PictureSize(width: 480, height: 640), stored: PictureSize(width: 640, height: 480),
        swapsSides: true
      ).isMismatch)
    #expect(
      ColorFit(
        stated: PictureSize(width: 480, height: 640), stored: PictureSize(width: 640, height: 480)
      ).isMismatch)
    #expect(ColorFit(stated: nil, stored: PictureSize(width: 640, height: 480)).obstacle == nil)
    // A size that is none says nothing.
    let none = PictureSize(width: 0, height: 480)
    #expect(ColorFit(stated: PictureSize(width: 640, height: 480), stored: none).obstacle == nil)
    let intrinsics = Intrinsics(fx: 1, fy: 1, cx: 0, cy: 0)
    #expect(DepthCalibration.sameCamera(intrinsics, stored: none).colorIntrinsics == nil)
  }

  @Test("A size that changes within the video counts once, beside one that was stated")
  func oneEntry() {
    let fit = ColorFit(
      stated: PictureSize(width: 1296, height: 968), stored: PictureSize(width: 648, height: 484))
    let warnings = WarningCollector()
    VideoOddities(pictures: 100, backwardSteps: 2, picturesOfOtherSize: 7).report(
      to: warnings, beside: fit)
    #expect(
      warnings.warnings.map { "\($0.code.rawValue) \($0.count)" }
        == ["timestamps-unordered 2", "size-mismatch 7"])
  }
}
