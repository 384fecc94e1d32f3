// @ts-check
import { parseArgs } from 'node:util'

/**
 * Reads the arguments of a script. Undefined when there is nothing to do: `--help` was answered, or a wrong argument
 * refused in one line with exit code 2.
 * @param {string} usage
 * @param {Record<string, { type: 'string' }>} [options]
 * @returns {Record<string, string | undefined> | undefined}
 */
export function readArguments(usage, options = {}) {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean', short: 'h' } } })
    if (!values.help) return /** @type {Record<string, string | undefined>} */ (values)
    console.log(usage.trim())
  } catch (error) {
    const [problem] = /** @type {Error} */ (error).message.split('\n')
    console.error(`${problem} (see --help)`)
    process.exitCode = 2
  }
  return undefined
}
