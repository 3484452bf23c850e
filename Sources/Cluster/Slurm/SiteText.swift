/// Parses the output of `scontrol`.
enum SiteText {
  /// Values of `scontrol show config`; `nil` if absent.
  struct Config: Hashable {
    /// 0 if arrays are disabled.
    var maxArraySize: Int?
    var killWaitSeconds: Int?
    var hasAccounting: Bool?
    /// How long the queue keeps ended jobs.
    var minJobAgeSeconds: Int?

    /// Absent values have the defaults of `Site`.
    var site: Site {
      var site = Site()
      if let maxArraySize { site.maxArraySize = maxArraySize }
      if let killWaitSeconds { site.killWaitSeconds = killWaitSeconds }
      if let hasAccounting { site.hasAccounting = hasAccounting }
      return site
    }
  }

  /// `nil` if no known key is present.
  static func config(_ text: String) -> Config? {
    var config = Config()
    for line in text.split(whereSeparator: \.isNewline) {
      guard let equals = line.firstIndex(of: "=") else { continue }
      let value = line[line.index(after: equals)...].trimmed
      switch line[..<equals].trimmed {
      case "MaxArraySize": config.maxArraySize = number(value)
      case "KillWait": config.killWaitSeconds = number(value)
      case "MinJobAge": config.minJobAgeSeconds = number(value)
      case "AccountingStorageType":
        config.hasAccounting =
          value.hasPrefix("accounting_storage/") && value != "accounting_storage/none"
      default: break
      }
    }
    return config == Config() ? nil : config
  }

  /// The leading number of `1001` or `30 sec`.
  private static func number(_ text: Substring) -> Int? {
    Int(text.prefix { ("0"..."9").contains($0) }).map { min($0, TaskKey.mostIndices) }
  }

  /// Whether any controller answers `scontrol ping`. The text decides; the exit code counts only if
  /// the text names neither state.
  static func isUp(_ answer: SlurmAnswer) -> Bool {
    guard case .exited(let code) = answer.end else { return false }
    let words = (answer.output + "\n" + answer.errors)
      .split(whereSeparator: \.isNewline)
      .filter { $0.hasPrefix("Slurmctld") }
      .flatMap { $0.split { $0 == " " || $0 == "/" } }
    if words.contains("UP") { return true }
    return !words.contains("DOWN") && code == 0
  }

  /// The text of a failed ping.
  static func state(_ answer: SlurmAnswer) -> String {
    let said = answer.output.split(whereSeparator: \.isNewline).map(String.init)
    return said.isEmpty ? answer.words : said.joined(separator: "; ")
  }
}
