import { grouped } from '../../config/limits.ts'
import { type Html, html, prose } from '../pages/parts/html.ts'

/** The part of JSON Schema that our definitions produce. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxLength?: number
  readonly format?: string
  readonly pattern?: string
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Record<string, Schema>
  readonly required?: readonly string[]
}

/** Path of the page about a named schema. */
export const answerPath = (name: string) => `/docs/answers/${name}`

/** `integer`, `array of Settlement`, `Time or null`; names link to their page. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1) as string
    return html`<a href="${answerPath(name)}">${name}</a>`
  }
  const options = schema.anyOf ?? schema.oneOf
  if (options) return listed(options.map(typeOf), ' or ')
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`
  if (schema.enum)
    return listed(
      schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ', ',
    )
  if (schema.items) return html`array of ${typeOf(schema.items)}`
  return html`${[schema.type ?? 'any'].flat().join(' or ')}`
}

/** The type of a schema, followed by its bounds and default. */
export function boundedType(schema: Schema): Html {
  const bounds = boundsOf(schema)
  return html`${typeOf(schema)}${bounds !== '' && html` <span class="sub">${bounds}</span>`}`
}

/** Bounds and defaults in words; empty when there are none. */
export function boundsOf({ minimum, maximum, maxItems, maxLength, default: fallback }: Schema): string {
  // The bounds of a safe integer say nothing that `integer` does not.
  const shown = (bound: number | undefined) =>
    Number.isSafeInteger(bound) && bound !== Number.MAX_SAFE_INTEGER ? bound : undefined
  const lowest = shown(minimum)
  const highest = shown(maximum)
  return [
    ...(lowest !== undefined && highest !== undefined ? [`${grouped(lowest)} to ${grouped(highest)}`] : []),
    ...(lowest !== undefined && highest === undefined ? [`at least ${grouped(lowest)}`] : []),
    ...(maxItems === undefined ? [] : [`at most ${grouped(maxItems)}`]),
    ...(maxLength === undefined ? [] : [`at most ${grouped(maxLength)} characters`]),
    ...(fallback === undefined ? [] : [`default ${String(fallback)}`]),
  ].join(', ')
}

/** The fields of an object, or the alternatives of a union. */
export function fieldsOf(schema: Schema): Html {
  const { properties, required = [] } = schema
  if (!properties) return html`<p>${typeOf(schema)} ${schema.pattern && html`<code>${schema.pattern}</code>`}</p>`
  const rows = Object.entries(properties).map(
    ([name, field]) => html`<tr>
      <th scope="row"><code>${name}</code></th>
      <td>${boundedType(field)}${!required.includes(name) && html` (optional)`}</td>
      <td>${prose(field.description ?? '')}</td>
    </tr>`,
  )
  return html`<div class="table wraps" role="group" aria-label="Fields" tabindex="0"><table>
    <thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
    <tbody>${rows}</tbody>
  </table></div>`
}

function listed(parts: readonly Html[], separator: string): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html`${separator}${part}`))}`
}
