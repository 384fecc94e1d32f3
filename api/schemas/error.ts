import { z } from 'zod'
import { type ErrorCode, errorStatus } from '../errors.ts'

const codes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]]

/** The body of every answer that is not a success. Fields beyond these two belong to the code. */
export const errorBody = z
  .looseObject({
    error: z.enum(codes).meta({ description: 'Clients switch on it.' }),
    detail: z.string().optional().meta({ description: 'For people; says what would be right.' }),
  })
  .meta({ id: 'Error' })
