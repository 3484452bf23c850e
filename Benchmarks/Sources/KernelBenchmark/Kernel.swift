/// Something small to measure.
struct Kernel: Sendable {
  var name: String
  /// What one call does, for people.
  var about: String
  /// Makes the inputs and returns what is measured; its result keeps the compiler from leaving it out.
  var prepare: @Sendable () throws -> () throws -> Int
}

/// All kernels by name.
enum Kernels {
  static let all: [Kernel] = PNGKernels.all + VideoKernels.all + DepthKernels.all
}
