import { NO_PLAN, type Projector } from '../../kernel/projection.ts';

export const incidents: Projector = {
  name: 'incidents',
  kinds: ['incidents', 'incidents-feed'],
  plan: async (context) =>
    context.dependencies.projections?.has('feeds') === true
      ? await (await import('./plan-incidents.ts')).planIncidents(context)
      : NO_PLAN,
  check: async (context) => (await import('./check.ts')).checkIncidents(context),
  reachable: {
    unreachable: async (_storage, objects, state) => (state === undefined ? objects.map(({ key }) => key) : []),
    async *published(_storage, state) {
      if (state === undefined) return;
      yield { kind: 'incidents' };
      yield { kind: 'incidents-feed' };
    },
  },
};
