/** Stands for the texts, and for the subject, of a person who was erased. No principal has this subject. */
export const ERASED = 'erased';
