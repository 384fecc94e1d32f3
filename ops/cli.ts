import { type ParseArgsConfig, parseArgs } from 'node:util'

/** An error that only an operator can resolve: printed as one line, without a stack, and the process ends. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** No other attempt can change it. */
  readonly isFinal = true
}

/** A mistake of the caller: shown as one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Runs a command's body. `--help` prints `usage` and exits 0; a UsageError prints one line and exits 2; any other error
 * prints what failed and exits 1, with the stack when it is a fault of the program rather than of its surroundings.
 *
 * `args` are the arguments without node and script; `options` as for `parseArgs`, `help` is added; at most
 * `maxPositionals` arguments (none unless given) are no options.
 */
export async function runCommand<T extends NonNullable<ParseArgsConfig['options']>>(
  command: { usage: string; options?: T; args?: string[]; maxPositionals?: number },
  body: (input: {
    values: ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>['values']
    positionals: string[]
  }) => Promise<void>,
): Promise<void> {
  try {
    const { values, positionals } = parseCommandLine(command)
    if ((values as { help?: boolean }).help) {
      process.stdout.write(`${command.usage.trim()}\n`)
      return
    }
    const surplus = positionals[command.maxPositionals ?? 0]
    if (surplus !== undefined) throw new UsageError(`unexpected argument ${surplus} (see --help)`)
    await body({ values: values as never, positionals })
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`)
    process.exit(error instanceof UsageError ? 2 : 1)
  }
}

/** One line for an error that an operator can mend, the stack for a fault of the program. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A host with several addresses fails once for each; the sum has no message of its own.
  if (error instanceof AggregateError && !error.message) return error.errors.map(describeError).join('; ')
  const isFault = [TypeError, ReferenceError, RangeError, SyntaxError].some((kind) => error instanceof kind)
  return isFault && error.stack ? error.stack : error.message || error.name
}

function parseCommandLine({ args, options }: { args?: string[]; options?: ParseArgsConfig['options'] }) {
  try {
    return parseArgs({
      args: args ?? process.argv.slice(2),
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      strict: true,
    })
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('\n')[0]} (see --help)`)
  }
}
