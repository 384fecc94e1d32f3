import type { Schema } from './schema.ts'

interface Content {
  readonly content?: Record<string, { readonly schema: Schema; readonly example?: unknown }>
}

interface DocumentedOperation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly DocumentedParameter[]
  readonly requestBody?: Content
  readonly responses: Record<string, Content & { readonly description: string }>
}

export interface DocumentedParameter {
  readonly name: string
  readonly in: string
  readonly schema: Schema
}

/** The part of an OpenAPI document the reference shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Record<string, Record<string, DocumentedOperation>>
  readonly components: { readonly schemas: Record<string, Schema> }
}

/** One request of the document. */
export interface DocumentedRequest {
  readonly method: string
  readonly path: string
  readonly operation: DocumentedOperation
}

export function requestsOf({ paths }: ApiDocument): DocumentedRequest[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

export const requestPath = (operationId: string) => `/docs/requests/${operationId}`
