/// Finds the known name closest to a misspelled one.
public enum NearestName {
  /// `nil` if none is close, so that more than a third of the letters would change.
  public static func find(_ name: String, among known: some Sequence<String>) -> String? {
    let best = known.map { (distance(name.lowercased(), $0.lowercased()), $0) }
      .min { ($0.0, $0.1) < ($1.0, $1.1) }
    guard let best, best.0 <= max(2, name.count / 3) else { return nil }
    return best.1
  }

  /// `", did you mean 'x'?"`, or an empty text.
  public static func suggestion(_ name: String, among known: some Sequence<String>) -> String {
    find(name, among: known).map { ", did you mean '\($0)'?" } ?? ""
  }

  /// Levenshtein distance.
  static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let above = row[j + 1]
        row[j + 1] = min(above + 1, row[j] + 1, diagonal + (letter == other ? 0 : 1))
        diagonal = above
      }
    }
    return row[b.count]
  }
}
