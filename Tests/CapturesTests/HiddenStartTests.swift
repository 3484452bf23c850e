@testable import Media
@testable import Core
import Testing

@testable import Captures

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
