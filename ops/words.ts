/** The words of a text, which blanks and line ends separate: a list that has one meaning a word. */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/)
