import Core
import Media

/// What the items of a stream carry that says which item of another stream belongs to each.
enum StreamKeys {
  /// Numbers of frames.
  case numbers([Int])
  /// Nanoseconds on a clock whose zero is not known, and the clock's resolution.
  case times([Int64], tickNanoseconds: Int64)
  /// The order of the items is all there is.
  case rank(Int)

  var count: Int {
    switch self {
    case .numbers(let numbers): numbers.count
    case .times(let times, _): times.count
    case .rank(let count): count
    }
  }

  /// Keys of rows with times. A row without one gets the time that its place between its neighbors
  /// suggests, so that it can still have a partner.
  init(rows times: [Timestamp?]) {
    let known = times.indices.filter { times[$0] != nil }
    func time(_ index: Int) -> Int64 { times[index]?.nanoseconds ?? 0 }
    let steps = zip(known.dropFirst(), known).map { (time($0) &- time($1)) / Int64($0 - $1) }
    guard let first = known.first, let last = known.last, !steps.isEmpty else {
      self = .rank(times.count)
      return
    }
    let step = steps.sorted()[steps.count / 2]
    var filled: [Int64] = []
    filled.reserveCapacity(times.count)
    var after = 0
    for index in times.indices {
      while after < known.count, known[after] < index { after += 1 }
      if times[index] != nil {
        filled.append(time(index))
      } else if index < first {
        filled.append(time(first) &- step &* Int64(first - index))
      } else if index > last {
        filled.append(time(last) &+ step &* Int64(index - last))
      } else {
        let (a, b) = (known[after - 1], known[after])
        let share = Double(index - a) / Double(b - a)
        filled.append(time(a) &+ Int64(share * Double(time(b) &- time(a))))
      }
    }
    self = .times(filled, tickNanoseconds: 1)
  }

  /// Whether they are distinct and in order.
  var areOrdered: Bool {
    switch self {
    case .numbers(let numbers): zip(numbers, numbers.dropFirst()).allSatisfy(<)
    case .times(let times, _): zip(times, times.dropFirst()).allSatisfy(<)
    case .rank: true
    }
  }

  /// Whether they are distinct, in order, and plausible: numbers from 0 to `most`, or times within
  /// ten years, so that arithmetic with them is safe.
  func areBelieved(upTo most: Int = .max) -> Bool {
    guard areOrdered else { return false }
    switch self {
    case .numbers(let numbers): return (numbers.last ?? 0) <= most && (numbers.first ?? 0) >= 0
    case .times(let times, _): return Self.isShort(times)
    case .rank: return true
    }
  }

  private static func isShort(_ times: [Int64]) -> Bool {
    guard let first = times.first, let last = times.last else { return true }
    let (span, overflow) = last.subtractingReportingOverflow(first)
    return !overflow && span < 315_360_000_000_000_000
  }

  /// Whether all steps are equal within the resolution: true for less than three items.
  var areEven: Bool {
    guard case .times(let times, let tick) = self else { return false }
    let steps = zip(times.dropFirst(), times).map { $0 &- $1 }
    guard let shortest = steps.min(), let longest = steps.max() else { return true }
    // Rounding to whole nanoseconds may add one at both ends.
    return longest &- shortest <= tick &+ 2
  }

  /// Why as many evenly spaced items as rows may not belong to them: another stream has `length` frames, which are
  /// more, so both lack some, perhaps others. `nil` if nothing tells that.
  func doubt(beside rows: Int, length: Int) -> String? {
    guard count == rows, rows < length, areEven else { return nil }
    return LossWords.unplaced(length - rows)
  }

  /// Whether an item is missing between others: a step above 1.4 times the median step.
  var haveHoles: Bool {
    guard case .times(let times, _) = self else { return false }
    return TimeSteps(times.map(Timestamp.init(nanoseconds:))).gaps(above: 1.4) > 0
  }
}

/// Which row each item of a stream belongs to.
struct StreamMatch {
  /// Row of item k, increasing; `nil` for an item without row.
  private(set) var rows: [Int?]
  private(set) var way: StreamPairing.Way
  /// Why another pairing may be the right one, with how far off this one then is; `nil` if it is proved.
  private(set) var doubt: String?
  /// The time of the rows' clock at the zero of the items' clock; `nil` if it was not found.
  private(set) var constant: Int64?
  /// Whether times pair more items with rows than in any other way, if only by one.
  private(set) var isBest = false

  var isProved: Bool { doubt == nil }
  var pairCount: Int { rows.count { $0 != nil } }

  /// Pairs items with rows by what both carry. Equal numbers belong together. Times agree up to a
  /// constant. Anything else is paired by rank, without proof where the counts differ.
  ///
  /// - Parameters:
  ///   - nouns: what one item and one row are called in `doubt`.
  ///   - hidden: items that an edit list hides, for which rows may exist: where the times allow
  ///     several rows for the first item, it is the one behind as many.
  ///   - endTogether: whether the app records an item with each row, so that one without the other is a loss, and no
  ///     other stream shows that rows are lost.
  ///
  /// Cost for times: one walk if counts and times agree with the ranks, else of the order n log n,
  /// with memory for some ten numbers per item and row.
  init(
    _ items: StreamKeys, with partners: StreamKeys, nouns: (item: String, row: String),
    hidden: HiddenPictures = HiddenPictures(), endTogether: Bool = false
  ) {
    rows = (0..<items.count).map { $0 < partners.count ? $0 : nil }
    way = .rank
    switch (items, partners) {
    case (.numbers(let numbers), .numbers(let others))
    where items.areBelieved() && partners.areBelieved():
      let places = Dictionary(zip(others, 0...)) { first, _ in first }
      way = .number
      rows = numbers.map { places[$0] }
    case (.times(let times, let tick), .times(let others, _))
    where !times.isEmpty && !others.isEmpty && items.areBelieved() && partners.areBelieved():
      // Even times beside rows with holes are made up: their movie was encoded again.
      let isMadeUp = times.count > 2 && items.areEven && partners.haveHoles
      pair(times, tick, others, isMadeUp, nouns, hidden, endTogether)
    default:
      guard items.count != partners.count, items.count > 0, partners.count > 0 else { return }
      doubt =
        "the \(nouns.item)s carry nothing that says which of the \(nouns.row)s belong to them: they "
        + LossWords.shifted(items.count - partners.count)
    }
  }

  private mutating func pair(
    _ times: [Int64], _ tick: Int64, _ others: [Int64], _ isMadeUp: Bool,
    _ nouns: (item: String, row: String), _ hidden: HiddenPictures, _ endTogether: Bool
  ) {
    let search = ClockSearch(times, tickNanoseconds: tick, others, endTogether: endTogether)
    let surplus = others.count - times.count
    if surplus == 0, search.fits(ranksBy: 0) {
      // Evenly spaced, they lie at the next rows, too: their order tells which belong together.
      way = !endTogether && search.fits(ranksBy: 1) ? .rank : .time
      constant = others[0] &- times[0]
      return
    }
    let behindHidden =
      hidden.before > 0 && hidden.before < others.count ? others[hidden.before] &- times[0] : nil
    let found = search.found(preferring: behindHidden)
    // Even times at which every row lies are real: the holes are rows that were lost.
    let areReal = surplus < 0 && found.pairs == others.count
    guard !isMadeUp || areReal else {
      doubt =
        "the times of the \(nouns.item)s are even where those of the \(nouns.row)s have holes, so the "
        + "movie was encoded again, and they are paired by order: they "
        + LossWords.shifted(max(1, abs(surplus)))
      return
    }
    let isBehindHidden = behindHidden.map { abs(found.constant &- $0) <= search.tolerance } ?? false
    let behind = surplus - hidden.before
    let isProved = found.isProved || (isBehindHidden && (behind == 0 || behind == hidden.after))
    // As many items as rows that do not fit by their times are paired by order, unless nearly all
    // that do fit are within the tolerance, and not by order.
    let fitting = found.rows.count { $0 != nil }
    guard
      surplus != 0
        || (fitting < times.count && 4 * found.pairs >= 3 * (isProved ? fitting : times.count))
    else {
      doubt =
        "there are as many \(nouns.item)s as \(nouns.row)s, but their times differ, and they are paired "
        + "by order: they \(LossWords.shifted(1)) or more"
      return
    }
    (way, constant) = (.time, found.constant)
    rows = found.rows
    isBest = !found.hasEquals
    guard !isProved else { return }
    doubt = doubt(surplus, nouns, found)
    if behindHidden != nil {
      let off = isBehindHidden ? found.mostOff : hidden.nanoseconds
      doubt =
        "the times of \(nouns.item)s and \(nouns.row)s do not prove which belong together: the movie's "
        + "edit list hides its first \(hidden.before) pictures, times may be off by up to "
        + "\(HiddenStart.milliseconds(off)) ms"
    }
  }

  /// Gives the items between two rows with a time to the rows without one between them, in order:
  /// their number tells more than the times that `StreamKeys(rows:)` took for those rows. If there
  /// are fewer items than such rows, each goes to the nearest, in doubt.
  ///
  /// - Parameters:
  ///   - known: the times of the rows; `nil` for a row without one.
  ///   - taken: the times that were taken for all rows.
  ///   - items: the times of the items that were paired.
  mutating func pairUntimed(_ known: [Timestamp?], taken: [Int64], items: [Int64]) {
    guard way == .time, let constant, known.contains(nil) else { return }
    var item = 0
    var start = 0
    while start < known.count {
      guard known[start] == nil else {
        start += 1
        continue
      }
      let end = known[start...].firstIndex { $0 != nil } ?? known.count
      let before = start > 0 ? taken[start - 1] : .min
      let after = end < known.count ? taken[end] : .max
      func isBefore(_ item: Int) -> Bool {
        rows[item].map { $0 < start } ?? (items[item] &+ constant <= before)
      }
      func isAfter(_ item: Int) -> Bool {
        rows[item].map { $0 >= end } ?? (items[item] &+ constant >= after)
      }
      while item < items.count, isBefore(item) { item += 1 }
      let first = item
      while item < items.count, !isAfter(item) { item += 1 }
      pair(first..<item, with: start..<end, taken, items, constant)
      start = end
    }
  }

  private mutating func pair(
    _ between: Range<Int>, with untimed: Range<Int>, _ taken: [Int64], _ items: [Int64],
    _ constant: Int64
  ) {
    let surplus = untimed.count - between.count
    guard surplus >= 0, between.contains(where: { rows[$0] == nil }) else { return }
    var row = untimed.lowerBound
    for item in between {
      // So many rows are left that each further item has one.
      let last = untimed.upperBound - (between.upperBound - item)
      func distance(_ row: Int) -> UInt64 { ((items[item] &+ constant) &- taken[row]).magnitude }
      while row < last, distance(row + 1) < distance(row) { row += 1 }
      rows[item] = row
      row += 1
    }
    guard surplus > 0 else { return }
    doubt =
      doubt
      ?? "of neighbors whose times are lost not all have a partner: there they "
      + LossWords.shifted(surplus)
  }

  private func doubt(
    _ surplus: Int, _ nouns: (item: String, row: String), _ found: ClockSearch.Found
  ) -> String {
    let off = "times may be off by up to \(HiddenStart.milliseconds(found.mostOff)) ms"
    guard found.hasEquals else {
      return
        "the times fit in more than one way: \(pairCount) \(nouns.item)s have a \(nouns.row), in other ways as many "
        + "but one; if \(nouns.item)s and \(nouns.row)s do not begin and end together, \(off)"
    }
    guard rows.first == 0 else {
      return
        "the times fit in more than one way: \(pairCount) \(nouns.item)s have a \(nouns.row), in other ways as many; "
        + "the closest fit is taken, so \(off)"
    }
    let (lone, other) = surplus < 0 ? (nouns.item, nouns.row) : (nouns.row, nouns.item)
    let count = abs(surplus)
    let paired = rows.compactMap(\.self)
    let isInOneRun =
      surplus < 0
      ? rows.drop { $0 == nil }.prefix { $0 != nil }.count == paired.count
      : paired.first.map { $0 + paired.count - 1 } == paired.last
    let which =
      switch count {
      case 0: "\(nouns.item)s at either end have no \(nouns.row)"
      case _ where !isInOneRun: "\(Plural.text(count, lone)) between others have no \(other)"
      case 1: "the first or the last \(lone) has no \(other)"
      default: "the first or the last \(count) \(lone)s have no \(other)"
      }
    return
      "the times fit in more than one way: \(which); paired from the front, so \(off)"
  }
}

/// The row of a side file that belongs to the first displayed picture of a movie whose edit list
/// hides earlier pictures, as when a movie is trimmed without re-encoding: the side file has rows
/// for the hidden pictures.
struct HiddenStart: Equatable {
  /// The row of the first displayed picture.
  private(set) var firstRow = 0
  /// What is uncertain, for a message; `nil` if nothing is hidden, or if list and rows agree.
  private(set) var doubt: String?

  /// - Parameters:
  ///   - pictures: number of displayed pictures.
  ///   - times: times of the rows, in order; `nil` for a row without a time.
  init(_ hidden: HiddenPictures, pictures: Int, times: [Timestamp?]) {
    let rows = times.count
    guard hidden.before > 0, pictures > 0, rows > 0, rows != pictures else { return }
    let behind = rows - pictures - hidden.before
    if behind == 0 || behind == hidden.after {
      firstRow = hidden.before
      return
    }
    let what =
      "the movie's edit list hides its first \(hidden.before) pictures "
      + "(\(Self.milliseconds(hidden.nanoseconds)) ms), and \(rows) rows do not tell whether the hidden "
      + "pictures have rows: "
    if behind > 0, Self.agrees(hidden, times) {
      firstRow = hidden.before
      let most = Self.span(times, from: hidden.before, rows: behind)
      doubt =
        what + "the first picture is paired with row \(firstRow), which may be off by "
        + (most.map { "up to \(Self.milliseconds($0)) ms" } ?? "up to \(behind) rows")
    } else {
      doubt =
        what + "the first picture is paired with row 0, which may be off by "
        + "\(Self.milliseconds(hidden.nanoseconds)) ms"
    }
  }

  /// Whether the hidden rows last as long as the hidden pictures, within half a row; true if their
  /// times are not known.
  private static func agrees(_ hidden: HiddenPictures, _ times: [Timestamp?]) -> Bool {
    guard let span = span(times, from: 0, rows: hidden.before),
      let step = TimeSteps(ofNeighbors: times).medianNanoseconds
    else { return true }
    return abs(Double(span) - Double(hidden.nanoseconds)) <= Double(step) / 2
  }

  private static func span(_ times: [Timestamp?], from first: Int, rows: Int) -> Int64? {
    guard first + rows < times.count || first + rows == times.count, first < times.count,
      let start = times[first], let end = times[min(first + rows, times.count - 1)]
    else { return nil }
    return end - start
  }

  /// Milliseconds, rounded to nearest.
  static func milliseconds(_ nanoseconds: Int64) -> Int64 {
    (nanoseconds.magnitude > UInt64(Int64.max - 500_000) ? nanoseconds : nanoseconds + 500_000)
      / 1_000_000
  }
}

/// The canonical frames of a session: the rows in time order, and between them the pictures without
/// a row.
struct JoinedFrames {
  private(set) var frames: [CaptureFrame] = []
  /// Row of frame i; `nil` for a picture without row.
  private(set) var rowOfFrame: [Int?] = []
  /// Frame of picture k.
  private(set) var frameOfPicture: [Int] = []
  private(set) var picturesWithoutRow = 0
  private(set) var rowsWithoutPicture = 0

  /// Frames of a video's pictures alone, at their presentation times in nanoseconds.
  init(pictures: [Int64]) {
    for time in pictures { append(row: nil, Timestamp(nanoseconds: time), hasPicture: true) }
  }

  /// Frames of rows, some of which have a picture; then pictures without row and time.
  init(rows: [Timestamp], hasPicture: (Int) -> Bool, untimedPictures: Int = 0) {
    for (row, time) in rows.enumerated() {
      append(row: row, time, hasPicture: hasPicture(row))
    }
    for _ in 0..<max(0, untimedPictures) { append(row: nil, nil, hasPicture: true) }
  }

  /// Frames of paired rows and pictures. A picture without row is inserted between its neighbors by
  /// its own time; where no constant relates its clock to that of the rows, by its distance from the
  /// last pair.
  init(rows: [Timestamp], pictures: [Int64], match: StreamMatch) {
    let last = match.rows.lastIndex { $0 != nil }
    let start =
      match.constant.map(Timestamp.init(nanoseconds:))
      ?? last.flatMap { picture in
        match.rows[picture].map { rows[$0].advanced(byNanoseconds: 0 &- pictures[picture]) }
      } ?? rows.first
    var nextRow = 0
    var waiting: [Timestamp] = []
    for (picture, row) in match.rows.enumerated() {
      guard let row else {
        waiting.append(
          (start ?? Timestamp(nanoseconds: 0)).advanced(byNanoseconds: pictures[picture]))
        continue
      }
      append(rows, from: &nextRow, upTo: row, with: &waiting)
      append(row: row, rows[row], hasPicture: true)
      nextRow = row + 1
    }
    append(rows, from: &nextRow, upTo: rows.count, with: &waiting)
  }

  /// `frameOfPicture`, or `nil` if picture k is frame k.
  var frameOfPictureUnlessPlain: [Int]? {
    frameOfPicture.elementsEqual(frameOfPicture.indices) ? nil : frameOfPicture
  }

  /// Appends rows without picture and pictures without row between two pairs, by time.
  private mutating func append(
    _ rows: [Timestamp], from nextRow: inout Int, upTo end: Int, with waiting: inout [Timestamp]
  ) {
    for time in waiting {
      while nextRow < end, rows[nextRow] <= time {
        append(row: nextRow, rows[nextRow], hasPicture: false)
        nextRow += 1
      }
      append(row: nil, time, hasPicture: true)
    }
    waiting = []
    while nextRow < end {
      append(row: nextRow, rows[nextRow], hasPicture: false)
      nextRow += 1
    }
  }

  private mutating func append(row: Int?, _ time: Timestamp?, hasPicture: Bool) {
    if hasPicture { frameOfPicture.append(frames.count) } else { rowsWithoutPicture += 1 }
    if row == nil { picturesWithoutRow += 1 }
    frames.append(CaptureFrame(timestamp: time, colorTimestamp: hasPicture ? time : nil))
    rowOfFrame.append(row)
  }
}
