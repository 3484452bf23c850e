/// KernelBenchmark [--list] [--iterations N] [NAME…]
/// KernelBenchmark --compare FILE --tolerance P --compiler TEXT      counts on standard input
/// KernelBenchmark --write --compiler TEXT                           counts on standard input
/// KernelBenchmark --baseline FILE [NAME…]                           a table, with the counts in FILE
struct Arguments {
  var names: [String] = []
  var iterations = 20
  var isList = false
  var isWrite = false
  var compare: String?
  var baseline: String?
  var tolerancePercent = 2.0
  var compiler = ""

  init(_ list: some Collection<String>) throws {
    var rest = Array(list)[...]
    func value<Value>(_ option: String, _ read: (String) -> Value?) throws -> Value {
      guard let value = rest.popFirst().flatMap(read) else {
        throw KernelError(what: "\(option) wants a value")
      }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--list": isList = true
      case "--write": isWrite = true
      case "--iterations":
        iterations = try value(argument) {
          Int($0).flatMap { (0...1_000_000).contains($0) ? $0 : nil }
        }
      case "--compare": compare = try value(argument) { $0 }
      case "--baseline": baseline = try value(argument) { $0 }
      case "--tolerance": tolerancePercent = try value(argument) { Double($0) }
      case "--compiler": compiler = try value(argument) { $0 }
      default: names.append(argument)
      }
    }
    for name in names where !Kernels.all.contains(where: { $0.name == name }) {
      throw KernelError(what: "no kernel '\(name)'; --list shows them")
    }
  }
}
