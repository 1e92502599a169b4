/**
 * A daily backup of the ledger in a vault of another account. Point-in-time recovery is lost with its table or its account;
 * this copy survives both.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';

const KEPT_FOR = Duration.days(35);

export interface TableBackupsProps {
  readonly tableArn: string;
  /** The vault's own policy must allow copies from this account (docs/deploy.md, *Backups in another account*). */
  readonly vaultArn: string;
}

export class TableBackups extends Construct {
  constructor(scope: Construct, id: string, { tableArn, vaultArn }: TableBackupsProps) {
    super(scope, id);
    const plan = new BackupPlan(this, 'Plan', {
      // AWS Backup copies only from a vault of the same account.
      backupVault: new BackupVault(this, 'Vault', { removalPolicy: RemovalPolicy.RETAIN }),
      backupPlanRules: [
        new BackupPlanRule({
          ruleName: 'daily',
          scheduleExpression: Schedule.cron({ hour: '3', minute: '0' }),
          deleteAfter: KEPT_FOR,
          copyActions: [
            {
              destinationBackupVault: BackupVault.fromBackupVaultArn(this, 'OtherVault', vaultArn),
              deleteAfter: KEPT_FOR,
            },
          ],
        }),
      ],
    });
    plan.addSelection('Ledger', { resources: [BackupResource.fromArn(tableArn)] });
  }
}
