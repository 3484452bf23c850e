/// Lengths of time as readable text. Negative ones are 0; what is not finite counts as the longest that is told.
public enum DurationText {
  /// `31 s`, `2 min 05 s`, `1 h 12 min`: rounded up to whole seconds, cut to minutes from an hour on. At most
  /// `833 h 20 min`.
  public static func text(_ seconds: Double) -> String {
    let whole = Int(min(max(seconds, 0), 3e6).rounded(.up))
    func two(_ n: Int) -> String { n < 10 ? "0\(n)" : "\(n)" }
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return "\(whole / 60) min \(two(whole % 60)) s" }
    return "\(whole / 3600) h \(two(whole / 60 % 60)) min"
  }

  /// Formats a measured time: as `text`, with one decimal below ten seconds.
  public static func measured(_ seconds: Double) -> String {
    seconds < 9.95 ? "\(NumberText.short(seconds)) s" : text(seconds)
  }

  /// `31 s`, `12 min`, `1 h 5 min`: for what is only estimated. At most 1e9 seconds.
  public static func estimated(_ seconds: Double) -> String {
    let whole = Int(min(max(seconds, 0), 1e9).rounded(.up))
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return "\(whole / 60) min" }
    return "\(whole / 3600) h \(whole % 3600 / 60) min"
  }
}

/// Numbers as readable text.
public enum NumberText {
  /// `1,204`.
  public static func grouped(_ number: Int) -> String {
    (number < 0 ? "-" : "") + grouped(digits: "\(number.magnitude)"[...])
  }

  /// The digits of a whole number with commas between thousands.
  public static func grouped(digits: Substring) -> String {
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// One decimal below 100, none above; negative numbers become 0, what is not finite `?`. At most 1e15.
  public static func short(_ value: Double) -> String {
    guard value.isFinite else { return "?" }
    let value = min(max(value, 0), 1e15)
    let tenths = Int((value * 10).rounded())
    return tenths < 1000 ? "\(tenths / 10).\(tenths % 10)" : "\(Int(value.rounded()))"
  }
}
