import { type DocumentNode, visit } from 'graphql'

const noRegistry = 'the registry of validations is not indexed here'
const noSeries = 'there are no time series of this schema here; /api/timeseries and /api/stats have numbers over time'

/** Fields of the public schema that cannot be answered, and why. */
const unserved: Readonly<Record<string, string>> = {
  validation: noRegistry,
  validations: noRegistry,
  protocol: 'there is nothing on a chain that says it; /api/stats names the chains',
  protocols: 'there is nothing on a chain that says it; /api/stats names the chains',
  feedbackFiles: 'files are served with their feedback only',
  ...Object.fromEntries(
    ['agentRegistrationPoint', 'feedbackPoint', 'validationPoint'].flatMap((name) => [
      [name, noSeries],
      [`${name}s`, noSeries],
    ]),
  ),
  ...Object.fromEntries(
    ['protocolAgent', 'protocolFeedback', 'agentFeedback', 'protocolValidation', 'agentValidation'].flatMap((name) => [
      [`${name}Stats`, noSeries],
      [`${name}Stats_collection`, noSeries],
    ]),
  ),
}

/** Why the first such field in a document cannot be answered; undefined: it has none. */
export function unservedIn(document: DocumentNode): string | undefined {
  let found: string | undefined
  visit(document, {
    Field({ name: { value } }) {
      if (Object.hasOwn(unserved, value)) found ??= `${value} cannot be answered: ${unserved[value]} (docs/agent0.md)`
    },
  })
  return found
}
