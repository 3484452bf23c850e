extension MultiScanFiles {
  /// The start of the recording in the file stem, as ISO 8601: `yyyyMMdd'T'HHmmss±zzzz_…` (the
  /// server deletes the `+`) or `yyyyMMdd_HHmmss_…`, which has no time zone. `nil` for other stems
  /// and for years of another calendar.
  static func recordedAt(stem: String) -> String? {
    var text = Substring(stem)
    guard let year = text.takeNumber(digits: 4), (2015...2099).contains(year),
      let month = text.takeNumber(digits: 2), (1...12).contains(month),
      let day = text.takeNumber(digits: 2), (1...31).contains(day),
      let separator = text.popFirst(), separator == "T" || separator == "_",
      let hour = text.takeNumber(digits: 2), hour < 24,
      let minute = text.takeNumber(digits: 2), minute < 60,
      let second = text.takeNumber(digits: 2), second <= 60
    else { return nil }
    let date = [year, month, day].map(twoDigits).joined(separator: "-")
    let time = [hour, minute, second].map(twoDigits).joined(separator: ":")
    let sign = text.first == "-" ? "-" : "+"
    if text.first == "-" || text.first == "+" { text.removeFirst() }
    guard separator == "T", let zoneHour = text.takeNumber(digits: 2), zoneHour < 24,
      let zoneMinute = text.takeNumber(digits: 2), zoneMinute < 60
    else { return "\(date)T\(time)" }
    return "\(date)T\(time)\(sign)\(twoDigits(zoneHour)):\(twoDigits(zoneMinute))"
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}

extension Substring {
  /// Removes a number of exactly `digits` ASCII digits from the front.
  fileprivate mutating func takeNumber(digits: Int) -> Int? {
    let head = prefix(digits)
    guard head.utf8.count == digits, head.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    removeFirst(digits)
    return Int(head)
  }
}
