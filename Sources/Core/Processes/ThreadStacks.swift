import CPlatform
import SystemPackage
import Glibc

/// Reports where the threads of a process of this program are, before it is killed for lack of
/// progress.
public enum ThreadStacks {
  /// Installs the handler that writes the stacks of this process's threads to standard error when
  /// another process requests it.
  public static func answerRequests() { scanmill_tell_stacks() }

  /// For tests: a thread of this process that gets SIGSYS never goes on.
  ///
  /// - Parameter spins: whether it computes forever or waits forever.
  public static func freezeOnRequest(spins: Bool) { scanmill_freeze_on_request(spins ? 1 : 0) }

  /// Writes where each thread of a process is: one or two lines per thread from the kernel, then
  /// the stacks, which the process writes itself. Stopped threads write none.
  ///
  /// Takes up to three seconds.
  ///
  /// - Parameters:
  ///   - write: receives the text from the kernel.
  ///   - size: returns how many bytes the process has written to its standard error so far.
  public static func tell(of id: pid_t, write: (String) -> Void, size: () -> Int64) {
    let threads = ProcessText.threads(of: id)
    write(threads.map { line(id, $0) }.joined(separator: "\n"))
    var asked = 0
    for thread in threads where answers(id, thread) {
      if scanmill_ask_for_stack(id, thread) == 0 { asked += 1 }
    }
    if asked == 0 { return }
    // Waits until no more output arrives.
    let begin = size()
    var last = begin
    var quiet = 0
    for _ in 0..<60 {
      usleep(50_000)
      let now = size()
      quiet = now == last ? quiet + 1 : 0
      last = now
      if quiet >= 6, now > begin { return }
    }
  }

  /// As `tell`, with the text from the kernel as lines.
  public static func text(of id: pid_t, size: () -> Int64) -> String {
    var text = ""
    tell(of: id, write: { text += $0 + "\n" }, size: size)
    return text
  }

  /// Whether the thread would handle the signal that requests its stack, rather than be ended by
  /// it.
  private static func answers(_ id: pid_t, _ thread: pid_t) -> Bool {
    let bit = UInt64(1) << UInt64(scanmill_stack_signal() - 1)
    let status = ProcessText.of("/proc/\(id)/task/\(thread)/status")
    func mask(_ name: String) -> UInt64 {
      status.split(separator: "\n").first { $0.hasPrefix(name) }
        .flatMap { UInt64($0.dropFirst(name.count).drop { $0 == "\t" || $0 == " " }, radix: 16) }
        ?? 0
    }
    return mask("SigCgt:") & bit != 0 && mask("SigBlk:") & bit == 0
  }

  private static func line(_ id: pid_t, _ thread: pid_t) -> String {
    let folder = "/proc/\(id)/task/\(thread)"
    func text(_ name: String) -> String {
      ProcessText.of("\(folder)/\(name)").split(separator: "\n").joined(separator: " < ")
    }
    let fields = ProcessText.statusFields("\(folder)/stat") ?? []
    var words = ["thread \(thread) (\(text("comm")))", "state \(fields.first ?? "?")"]
    if fields.count > 12 {
      words.append("\(fields[11]) + \(fields[12]) ticks of processor time")
    }
    let place = text("wchan")
    if !place.isEmpty, place != "0" { words.append("waits in \(place)") }
    let call = text("syscall").split(separator: " ").prefix(4).joined(separator: " ")
    if !call.isEmpty { words.append("system call \(call)") }
    let stack = text("stack")
    if !stack.isEmpty { words.append("kernel: \(stack)") }
    return "  " + words.joined(separator: ", ")
  }
}
