// @ts-check

/**
 * @typedef {Record<string, any>} Json
 * @typedef {'asked' | 'answered'} Direction who writes what a schema describes: whoever asks, or the service
 * @typedef {{ was: Json, is: Json, direction: Direction, open: Set<string> }} Comparison
 */

const bounds = /** @type {const} */ ([
  ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'],
  ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'],
])

/**
 * What breaks programs that were written for one OpenAPI document when the service becomes that of another: a line each,
 * empty for none.
 *
 * Something new may come at any time: requests, parameters that may be left out, fields, further values of an answer's
 * enumeration. What was marked `deprecated` may go. Not looked at: descriptions, headers, errors.
 *
 * @param {Json} was
 * @param {Json} is
 * @returns {string[]}
 */
export function breaksOf(was, is) {
  return Object.entries(/** @type {Record<string, Json>} */ (was.paths)).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      if (operation.deprecated) return []
      const now = is.paths[path]?.[method]
      const problems = now ? operationBreaks(operation, now, { was, is }) : ['is gone']
      return problems.map((problem) => `${method.toUpperCase()} ${path} ${problem}`)
    }),
  )
}

/**
 * @param {Json} was
 * @param {Json} is
 * @param {{ was: Json, is: Json }} documents
 * @returns {string[]}
 */
function operationBreaks(was, is, documents) {
  const asked = () => ({ ...documents, direction: /** @type {Direction} */ ('asked'), open: new Set() })
  const answered = () => ({ ...documents, direction: /** @type {Direction} */ ('answered'), open: new Set() })
  /** @type {Json[]} */
  const before = was.parameters ?? []
  /** @type {Json[]} */
  const after = is.parameters ?? []
  const same = (/** @type {Json} */ one, /** @type {Json} */ other) => one.in === other.in && one.name === other.name
  const parameters = before.flatMap((one) => {
    const now = after.find((other) => same(one, other))
    const place = `parameter ${one.name}`
    if (one.deprecated) return []
    return now ? schemaBreaks(one.schema, now.schema, place, asked()) : [`${place} is gone`]
  })
  const demanded = after
    .filter((one) => one.required && !before.some((other) => same(one, other) && other.required))
    .map(({ name }) => `parameter ${name} is required`)
  const body = contentBreaks(was.requestBody, is.requestBody, 'body', asked)
  if (!was.requestBody?.required && is.requestBody?.required) body.push('body is required')
  const answers = Object.entries(/** @type {Record<string, Json>} */ (was.responses))
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, answer]) => contentBreaks(answer, is.responses[status] ?? {}, status, answered))
  return [...parameters, ...demanded, ...body, ...answers]
}

/**
 * @param {Json | undefined} was
 * @param {Json | undefined} is
 * @param {string} place
 * @param {() => Comparison} comparison
 * @returns {string[]}
 */
function contentBreaks(was, is, place, comparison) {
  return Object.entries(/** @type {Record<string, Json>} */ (was?.content ?? {})).flatMap(([type, { schema }]) => {
    const now = is?.content?.[type]
    return now ? schemaBreaks(schema, now.schema, place, comparison()) : [`${place} ${type} is gone`]
  })
}

/**
 * @param {Json | undefined} was
 * @param {Json | undefined} is
 * @param {string} place
 * @param {Comparison} comparison
 * @returns {string[]}
 */
function schemaBreaks(was, is, place, comparison) {
  const pair = `${was?.$ref} ${is?.$ref}`
  if (was?.$ref && is?.$ref) {
    if (comparison.open.has(pair)) return []
    comparison = { ...comparison, open: new Set([...comparison.open, pair]) }
  }
  const [before, after] = [resolved(was, comparison.was), resolved(is, comparison.is)]
  const { direction } = comparison
  if (alternatives(before).length > 1 || alternatives(after).length > 1) {
    const [given, taken] = direction === 'asked' ? [before, after] : [after, before]
    const fits = (/** @type {Json} */ one, /** @type {Json} */ other) =>
      (direction === 'asked'
        ? schemaBreaks(one, other, place, comparison)
        : schemaBreaks(other, one, place, comparison)
      ).length === 0
    const isKnown = alternatives(given).every((one) => alternatives(taken).some((other) => fits(one, other)))
    return isKnown ? [] : [`${place} has other forms`]
  }
  return [
    ...valueBreaks(before, after, direction).map((problem) => `${place} ${problem}`),
    ...fieldBreaks(before, after, place, comparison),
    ...(before.items && after.items ? schemaBreaks(before.items, after.items, `${place}[]`, comparison) : []),
    ...(typeof before.additionalProperties === 'object' && typeof after.additionalProperties === 'object'
      ? schemaBreaks(before.additionalProperties, after.additionalProperties, `${place}.*`, comparison)
      : []),
  ]
}

/**
 * @param {Json} was
 * @param {Json} is
 * @param {Direction} direction
 * @returns {string[]}
 */
function valueBreaks(was, is, direction) {
  const [given, taken] = direction === 'asked' ? [was, is] : [is, was]
  const types = typesOf(taken)
  const known = (/** @type {string} */ type) => types.includes(type) || (type === 'integer' && types.includes('number'))
  const problems = []
  if (types.length > 0 && (typesOf(given).length === 0 || !typesOf(given).every(known)))
    problems.push('has another type')
  if (direction === 'answered') return problems
  const [values, allowed] = [valuesOf(was), valuesOf(is)]
  if (allowed && !(values?.every((value) => allowed.includes(value)) ?? false)) problems.push('takes fewer values')
  if (is.pattern !== undefined && is.pattern !== was.pattern && !values) problems.push('has another pattern')
  const [lower, upper] = bounds
  const isTighter =
    lower.some((name) => is[name] > (was[name] ?? Number.NEGATIVE_INFINITY)) ||
    upper.some((name) => is[name] < (was[name] ?? Number.POSITIVE_INFINITY))
  return isTighter ? [...problems, 'has tighter bounds'] : problems
}

/**
 * @param {Json} was
 * @param {Json} is
 * @param {string} place
 * @param {Comparison} comparison
 * @returns {string[]}
 */
function fieldBreaks(was, is, place, comparison) {
  const fields = Object.entries(/** @type {Record<string, Json>} */ (was.properties ?? {}))
  const isGiven = (/** @type {Json} */ schema, /** @type {string} */ name) => (schema.required ?? []).includes(name)
  const kept = fields.flatMap(([name, schema]) => {
    if (schema.deprecated) return []
    const now = is.properties?.[name]
    if (!now) return [`${place}.${name} is gone`]
    const isLost = comparison.direction === 'answered' && isGiven(was, name) && !isGiven(is, name)
    const problems = schemaBreaks(schema, now, `${place}.${name}`, comparison)
    return isLost ? [`${place}.${name} may be left out`, ...problems] : problems
  })
  if (comparison.direction === 'answered') return kept
  const demanded = (is.required ?? []).filter((/** @type {string} */ name) => !isGiven(was, name))
  return [...kept, ...demanded.map((/** @type {string} */ name) => `${place}.${name} is required`)]
}

/**
 * @param {Json | undefined} schema
 * @param {Json} document
 * @returns {Json}
 */
function resolved(schema, document) {
  if (typeof schema !== 'object') return {}
  if (!schema.$ref) return schema
  const target = schema.$ref
    .split('/')
    .slice(1)
    .reduce((/** @type {Json} */ at, /** @type {string} */ name) => at[name], document)
  return resolved(target, document)
}

/** @param {Json} schema @returns {Json[]} */
const alternatives = (schema) => schema.anyOf ?? schema.oneOf ?? [schema]
/** @param {Json} schema @returns {string[]} */
const typesOf = ({ type, const: only }) => [type ?? (only === undefined ? [] : typeof only)].flat()
/** @param {Json} schema @returns {unknown[] | undefined} */
const valuesOf = ({ enum: values, const: only }) => values ?? (only === undefined ? undefined : [only])
