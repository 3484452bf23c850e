import Testing

@testable import Output
@testable import Watch
