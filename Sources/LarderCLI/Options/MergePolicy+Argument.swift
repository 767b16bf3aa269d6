import ArgumentParser
import LarderModel

extension MergePolicy: ExpressibleByArgument {}
