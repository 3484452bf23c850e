/// Checks YAML text before it is given to a recursive parser.
public enum YAMLNesting {
  /// Why a text must not be parsed: brackets, sequences or indents are too deep, or there are so
  /// many aliases that it may expand without limit. `nil` if it can be parsed. Quotes are not
  /// considered, because settings files have few brackets in them.
  ///
  /// Cost: one pass over the bytes.
  public static func problem(in text: String) -> String? {
    if let problem = InputLimits.bytesOfSettings.problem(text.utf8.count) { return problem }
    var brackets = 0
    var aliases = 0
    /// Number of blanks, dashes and question marks at the start of a line. Each pair may open a
    /// level.
    var head = 0
    var isHead = true
    var previous = UInt8(ascii: "\n")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        head = 0
        isHead = true
      case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "?"), UInt8(ascii: "\t"):
        if isHead { head += 1 }
      default:
        isHead = false
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "{"): brackets += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"): brackets = max(0, brackets - 1)
        case UInt8(ascii: "*") where " \n\t[,{-".utf8.contains(previous): aliases += 1
        default: break
        }
      }
      if let problem = InputLimits.depthOfYAML.problem(max(brackets, head / 2))
        ?? InputLimits.aliasesOfYAML.problem(aliases)
      {
        return problem
      }
      previous = byte
    }
    return nil
  }
}
