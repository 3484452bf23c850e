import Glibc

/// A day of the Gregorian calendar.
public struct CivilDay: Hashable, Sendable {
  public let year: Int64
  /// 1 … 12.
  public let month: Int64
  /// 1 … 31.
  public let day: Int64

  public init(year: Int64, month: Int64, day: Int64) {
    (self.year, self.month, self.day) = (year, month, day)
  }

  public init(_ parts: tm) {
    self.init(
      year: Int64(parts.tm_year) + 1900, month: Int64(parts.tm_mon) + 1, day: Int64(parts.tm_mday))
  }

  /// - Parameter number: days since January 1, 1970.
  public init(number: Int64) {
    // H. Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March.
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Days since January 1, 1970; a day that its month does not have counts on into the next month.
  public var number: Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// `Nov`.
  public var monthName: String {
    let names = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    return names.indices.contains(Int(month) - 1) ? names[Int(month) - 1] : "?"
  }

  /// `20 Nov`.
  public var dayAndMonth: String { "\(day) \(monthName)" }

  /// `2026-11-20`.
  public var text: String {
    year.padded(4) + "-" + UTCText.two(month) + "-" + UTCText.two(day)
  }
}
