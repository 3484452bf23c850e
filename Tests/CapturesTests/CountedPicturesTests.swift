import Testing

@testable import Captures

@Suite("Pictures whose times count frames")
struct CountedPicturesTests {
  struct Movie: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Sixtieths of a second since the picture of frame 0; `nil`: other times.
    var counters: [Int]?
    var others: Int
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
        length: movie.others, count: movie.others, has: { $0 < movie.others }))
    #expect(pictures.frames == movie.frames)
    #expect((pictures.doubt != nil) == movie.isDoubtful)
    #expect(pictures.slack == movie.slack)
    if movie.isDoubtful { #expect(pictures.doubt?.contains("may be shifted by up to") == true) }
  }
}
