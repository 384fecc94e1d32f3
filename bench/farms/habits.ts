// What clients of a generated history are.

/** Who a client is, which the directory does not know. */
export type Make = (typeof farmMakes)[number]
export const farmMakes = [
  'one funder',
  'sub-funders',
  'funding chain',
  'slow drip',
  'never paying',
  'one hour',
  'circles',
  'disguised',
  'circles with a payment',
  'circles with more',
  'circles across',
  'paying dust',
] as const
export type Habit = (typeof honestHabits)[number]
export const honestHabits = [
  'customer of an exchange',
  'customer of unknown funds',
  'user of free agents',
  'launch day',
  'agent among agents',
  'fleet of one owner',
  'paid back by a faucet',
  'agent that costs nothing',
  'critic rated back',
  'seller who rates back',
  'dusted customer',
] as const
