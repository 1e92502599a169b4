import { dynamoDbContract } from './dynamodb-contract.ts';
import { engineEndpoint } from './engine-endpoint.ts';

dynamoDbContract('dynoxide', engineEndpoint('dynoxide'));
