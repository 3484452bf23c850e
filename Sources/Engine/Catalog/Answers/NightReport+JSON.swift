extension NightReport {
  /// The object of `report --format json`: the bytes that `JSONText.pretty` gives, made on all cores.
  public func json() throws -> [UInt8] {
    var frame = self
    frame.captures = []
    return try ListJSON.pretty(frame, captures: captures)
  }
}
