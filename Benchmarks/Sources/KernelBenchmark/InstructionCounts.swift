import FoundationEssentials

/// Instructions per call of each kernel, as `callgrind.sh` counts them: the content of
/// `instructions.json`.
struct InstructionCounts: Codable {
  /// What they were counted with: other compilers and libraries need other numbers.
  var compiler: String
  var kernels: [String: Int]

  /// From lines `name first last calls`: counts of a run that prepares and calls once, and of one that
  /// calls that many times more.
  init(lines: [String], compiler: String) throws {
    self.compiler = compiler
    kernels = [:]
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count == 4, let first = Int(words[1]), let last = Int(words[2]),
        let calls = Int(words[3]), calls > 0, last >= first
      else { throw KernelError(what: "'\(line)' is no line of counts") }
      kernels[String(words[0])] = (last - first) / calls
    }
  }

  init(json: Data) throws {
    self = try JSONDecoder().decode(InstructionCounts.self, from: json)
  }

  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  /// A line per kernel, and whether one needs more than `percent` % more than in `earlier`.
  func compared(with earlier: InstructionCounts, percent: Double) -> (text: String, isWorse: Bool) {
    var lines: [String] = []
    var isWorse = false
    if compiler != earlier.compiler {
      lines.append("note: counted with '\(compiler)', before with '\(earlier.compiler)'")
    }
    for (name, count) in kernels.sorted(by: { $0.key < $1.key }) {
      guard let before = earlier.kernels[name], before > 0 else {
        lines.append("\(name): \(count) instructions, not counted before")
        continue
      }
      let change = 100 * (Double(count) / Double(before) - 1)
      let rounded = (change * 100).rounded() / 100
      let worse = change > percent
      isWorse = isWorse || worse
      lines.append(
        "\(name): \(count) instructions, \(rounded >= 0 ? "+" : "")\(rounded) %\(worse ? ", WORSE" : "")"
      )
    }
    return (lines.joined(separator: "\n"), isWorse)
  }
}
