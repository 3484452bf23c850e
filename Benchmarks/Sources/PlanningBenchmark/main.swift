import Foundation

// How long planning takes when everything is up to date: the planner alone with facts in memory, and
// `scanmill run -n`, `status` and `report` over as many captures on disk, which this program makes by itself.
//
//   PlanningBenchmark [--captures 10000] [--program PATH] [--folder DIR] [--repeat 5]
//
// Without --program only the planner is measured. The captures are copies of one that `synthesize`
// makes; a real run over them writes what planning reads. With --folder they stay there for the next
// time.

let options = Options(CommandLine.arguments)

PurePlanning(captures: options.captures).report(times: options.times)
if let program = options.program {
  let disk = try DiskPlanning(program: program, captures: options.captures, folder: options.folder)
  defer { disk.cleanUp() }
  try disk.report(times: options.times)
  try disk.answers(times: options.times)
}

/// The command line.
struct Options {
  var captures = 10_000
  var program: String?
  var folder: String?
  var times = 5

  init(_ arguments: [String]) {
    var rest = arguments.dropFirst()
    while let name = rest.popFirst() {
      let value = rest.popFirst()
      switch name {
      case "--captures": captures = value.flatMap(Int.init) ?? captures
      case "--program": program = value
      case "--folder": folder = value
      case "--repeat": times = value.flatMap(Int.init) ?? times
      default:
        print("unknown option \(name)")
        exit(64)
      }
    }
  }
}

/// Seconds of each of `times` calls, as a line.
func measure(_ name: String, times: Int, _ body: () throws -> String) rethrows {
  var seconds: [Double] = []
  var result = ""
  for _ in 0..<max(1, times) {
    let start = ContinuousClock.now
    result = try body()
    let took = start.duration(to: .now)
    seconds.append(Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18)
  }
  seconds.sort()
  let text = { (value: Double) in "\((value * 1000).rounded() / 1000) s" }
  print(
    "\(name): fastest \(text(seconds[0])), median \(text(seconds[seconds.count / 2])); \(result)")
}
