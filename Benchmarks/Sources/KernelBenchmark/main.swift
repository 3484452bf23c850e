import FoundationEssentials
import Glibc

/// The lines of standard input.
func inputLines() -> [String] {
  var lines: [String] = []
  while let line = readLine() { lines.append(line) }
  return lines
}

func run() throws -> Int32 {
  let arguments = try Arguments(CommandLine.arguments.dropFirst())
  if arguments.isList {
    for kernel in Kernels.all { print("\(kernel.name): \(kernel.about)") }
    return 0
  }
  if arguments.isWrite || arguments.compare != nil {
    let counts = try InstructionCounts(lines: inputLines(), compiler: arguments.compiler)
    guard let file = arguments.compare else {
      print(try counts.json)
      return 0
    }
    let earlier = try InstructionCounts(json: try Data(contentsOf: URL(filePath: file)))
    let (text, isWorse) = counts.compared(with: earlier, percent: arguments.tolerancePercent)
    print(text)
    return isWorse ? 1 : 0
  }
  defer { Leftovers.remove() }
  if let file = arguments.baseline {
    let counts = try InstructionCounts(json: try Data(contentsOf: URL(filePath: file)))
    let kernels = Kernels.all.filter {
      arguments.names.isEmpty || arguments.names.contains($0.name)
    }
    print(try Baseline.table(kernels, counts: counts))
    return 0
  }
  for kernel in Kernels.all where arguments.names.isEmpty || arguments.names.contains(kernel.name) {
    print(try Stopwatch.line(kernel, iterations: arguments.iterations))
  }
  return 0
}

do {
  exit(try run())
} catch {
  let words = "error: \(error)\n"
  write(STDERR_FILENO, words, words.utf8.count)
  exit(64)
}
