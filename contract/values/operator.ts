/** The operator of a service and the terms of use of its data, for its pages. Empty by default. */
import * as z from 'zod';
import { waitlistEmailSchema } from './waitlist.ts';

const line = z
  .string()
  .min(1)
  .max(120)
  .regex(/^\P{C}+$/u, 'must be one line');

export const operatorSchema = z.strictObject({
  /** A person or an organisation. */
  name: line.optional(),
  /** An e-mail address, or the URL of a page. */
  contact: z
    .union([waitlistEmailSchema, z.url({ protocol: /^https?$/ }).max(2_048)], 'must be an e-mail address, or a web URL')
    .optional(),
  /** The licence of the data: a name such as `CC-BY-4.0`, or a URL. */
  licence: line.optional(),
});

export type Operator = Readonly<z.infer<typeof operatorSchema>>;
