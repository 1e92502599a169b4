/**
 * The services that run the scheduled job: where the workflow file lies, and the steps for a person, in Markdown. `CRON` stands
 * for the times of the recipe.
 */
export const HOSTS = {
  github: {
    workflow: '.github/workflows/publish.yml',
    steps: [
      'Make an empty repository at GitHub. Store the text of `log-key` as its secret `TIDEMARK_LOG_KEY`: *Settings, Secrets and variables, Actions*.',
      'Add it by `git remote add origin URL`, and push both branches: `git push --set-upstream origin main site`.',
      'Choose *GitHub Actions* under *Settings, Pages*, and start the workflow once: *Actions, publish, Run workflow*.',
    ],
  },
  cloudflare: {
    workflow: '.github/workflows/publish.yml',
    steps: [
      'Make an empty repository at GitHub, add it by `git remote add origin URL`, and push both branches: `git push --set-upstream origin main site`.',
      'Make a project of Cloudflare Pages: `npx wrangler pages project create NAME --production-branch main`.',
      'Under *Settings, Secrets and variables, Actions*, store the secrets `TIDEMARK_LOG_KEY` (the text of `log-key`), `CLOUDFLARE_API_TOKEN` (with the permission *Cloudflare Pages: Edit*) and `CLOUDFLARE_ACCOUNT_ID`, and the variable `CLOUDFLARE_PROJECT` (the name).',
    ],
  },
  gitlab: {
    workflow: '.gitlab-ci.yml',
    steps: [
      'Make an empty project at GitLab, add it by `git remote add origin URL`, and push both branches: `git push --set-upstream origin main site`.',
      'Store two masked variables under *Settings, CI/CD*: `TIDEMARK_LOG_KEY`, the text of `log-key`, and `SITE_TOKEN`, a project access token with the scope `write_repository`.',
      'Make a schedule under *Build, Pipeline schedules*, in UTC: CRON.',
    ],
  },
} as const;

export type Host = keyof typeof HOSTS;
