/** Sign-in of users: a user pool, unless the configuration names another OIDC issuer. */
import { Aws, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import {
  AccountRecovery,
  FeaturePlan,
  Mfa,
  OAuthScope,
  ResourceServerScope,
  UserPool,
  UserPoolClient,
} from 'aws-cdk-lib/aws-cognito';
import type { Construct } from 'constructs';
import { ALL_SCOPES, SCOPES, USER_SCOPES } from '../../contract/operations/scopes.ts';
import type { Configuration } from '../deployment/configuration.ts';

/** The claims that a token must have; see `storage/aws/lambda-environment.ts`. */
export interface IssuerSettings {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUri?: string | undefined;
  /** May be empty. */
  readonly scopePrefix: string;
}

const RESOURCE_SERVER = 'tidemark';
const TOKEN_LIFETIME = Duration.hours(1);
const SIGNED_IN_FOR = Duration.days(30);

export interface IdentityStackProps extends StackProps {
  readonly configuration: Configuration;
}

/** The stack keeps the pool and its users when it is deleted. */
export class IdentityStack extends Stack {
  readonly settings: IssuerSettings;

  constructor(scope: Construct, id: string, { configuration, ...props }: IdentityStackProps) {
    super(scope, id, props);
    const { name, userPool: options } = configuration;
    const pool = new UserPool(this, 'Users', {
      selfSignUpEnabled: options.selfSignUp,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      autoVerify: { email: true },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      featurePlan: FeaturePlan.ESSENTIALS,
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      passwordPolicy: {
        minLength: 12,
        requireDigits: true,
        requireLowercase: true,
        requireUppercase: true,
        requireSymbols: true,
      },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const scopes = ALL_SCOPES.map(
      (scope) => new ResourceServerScope({ scopeName: scope, scopeDescription: SCOPES[scope] }),
    );
    const server = pool.addResourceServer('Api', { identifier: RESOURCE_SERVER, scopes });
    const client = new UserPoolClient(this, 'Client', {
      userPool: pool,
      // A public client: a browser cannot keep a secret, so PKCE (RFC 7636) binds the code to it.
      generateSecret: false,
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      accessTokenValidity: TOKEN_LIFETIME,
      idTokenValidity: TOKEN_LIFETIME,
      refreshTokenValidity: SIGNED_IN_FOR,
      authFlows: { userSrp: true },
      oAuth: {
        flows: { authorizationCodeGrant: true },
        callbackUrls: options.callbackUrls,
        scopes: [
          OAuthScope.OPENID,
          ...scopes
            .filter(({ scopeName }) => USER_SCOPES.some((scope) => scope === scopeName))
            .map((scope) => OAuthScope.resourceServer(server, scope)),
        ],
      },
    });
    // All accounts of a region share the prefixes, so the account id makes this one unique.
    pool.addDomain('SignIn', { cognitoDomain: { domainPrefix: `${name}-${Aws.ACCOUNT_ID}` } });
    this.settings = {
      issuer: `https://cognito-idp.${this.region}.${this.urlSuffix}/${pool.userPoolId}`,
      audience: client.userPoolClientId,
      scopePrefix: `${RESOURCE_SERVER}/`,
    };
  }
}
