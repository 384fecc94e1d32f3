// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ERC1967Utils} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Utils.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {TypedDomain} from "./TypedDomain.sol";

/// The ERC-8004 identity registry: its functions, its events and their order, its wallet rules.
/// Beyond the real one: `burn`, and upgrades that anybody may make.
contract IdentityRegistry is ERC721URIStorage, TypedDomain {
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
    event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);
    event MetadataSet(
        uint256 indexed agentId,
        string indexed indexedMetadataKey,
        string metadataKey,
        bytes metadataValue
    );

    error ReservedKey();
    error ZeroWallet();
    error DeadlinePassed();
    error DeadlineTooFar();
    error WalletDidNotSign();

    string private constant WALLET_KEY = "agentWallet";
    bytes32 private constant WALLET_KEY_HASH = keccak256("agentWallet");
    bytes32 private constant WALLET_TYPE =
        keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");
    uint256 private constant MAX_DEADLINE_DELAY = 5 minutes;

    uint256 private _nextId;
    mapping(uint256 agentId => mapping(string key => bytes value)) private _metadata;

    // Behind a proxy the constructor's words are lost: name and symbol are constants below.
    constructor() ERC721("", "") {}

    function register() external returns (uint256 agentId) {
        agentId = _create();
        _announce(agentId, "");
    }

    function register(string memory agentURI) external returns (uint256 agentId) {
        agentId = _create();
        _setTokenURI(agentId, agentURI);
        _announce(agentId, agentURI);
    }

    function register(string memory agentURI, MetadataEntry[] memory metadata) external returns (uint256 agentId) {
        agentId = _create();
        _setTokenURI(agentId, agentURI);
        _announce(agentId, agentURI);
        for (uint256 i = 0; i < metadata.length; i++) {
            _refuseReserved(metadata[i].metadataKey);
            _store(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
        }
    }

    function setAgentURI(uint256 agentId, string calldata newURI) external {
        _checkAuthorized(_ownerOf(agentId), msg.sender, agentId);
        _setTokenURI(agentId, newURI);
        emit URIUpdated(agentId, newURI, msg.sender);
    }

    function setMetadata(uint256 agentId, string memory metadataKey, bytes memory metadataValue) external {
        _checkAuthorized(_ownerOf(agentId), msg.sender, agentId);
        _refuseReserved(metadataKey);
        _store(agentId, metadataKey, metadataValue);
    }

    /// The new wallet signs, the owner or an operator sends: nobody can name a wallet that did not agree.
    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature) external {
        address owner = _ownerOf(agentId);
        _checkAuthorized(owner, msg.sender, agentId);
        require(newWallet != address(0), ZeroWallet());
        require(block.timestamp <= deadline, DeadlinePassed());
        require(deadline <= block.timestamp + MAX_DEADLINE_DELAY, DeadlineTooFar());
        bytes32 digest = _digest(keccak256(abi.encode(WALLET_TYPE, agentId, newWallet, owner, deadline)));
        require(_signed(newWallet, digest, signature), WalletDidNotSign());
        _store(agentId, WALLET_KEY, abi.encodePacked(newWallet));
    }

    function unsetAgentWallet(uint256 agentId) external {
        _checkAuthorized(_ownerOf(agentId), msg.sender, agentId);
        _store(agentId, WALLET_KEY, "");
    }

    function burn(uint256 agentId) external {
        _update(address(0), agentId, msg.sender);
    }

    function upgradeToAndCall(address newImplementation, bytes memory data) external payable {
        ERC1967Utils.upgradeToAndCall(newImplementation, data);
    }

    function getMetadata(uint256 agentId, string memory metadataKey) external view returns (bytes memory) {
        return _metadata[agentId][metadataKey];
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        return address(bytes20(_metadata[agentId][WALLET_KEY]));
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    function name() public pure override returns (string memory) {
        return "AgentIdentity";
    }

    function symbol() public pure override returns (string memory) {
        return "AGENT";
    }

    /// The receiver's hook runs here, before Registered: a receiver can pass the token on first.
    function _create() private returns (uint256 agentId) {
        agentId = _nextId++;
        _metadata[agentId][WALLET_KEY] = abi.encodePacked(msg.sender);
        _safeMint(msg.sender, agentId);
    }

    function _announce(uint256 agentId, string memory agentURI) private {
        emit Registered(agentId, agentURI, msg.sender);
        emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, abi.encodePacked(msg.sender));
    }

    function _store(uint256 agentId, string memory key, bytes memory value) private {
        _metadata[agentId][key] = value;
        emit MetadataSet(agentId, key, key, value);
    }

    /// A token that changes hands loses its wallet first, and says so before the Transfer.
    function _update(address to, uint256 agentId, address auth) internal override returns (address) {
        if (to != address(0) && _ownerOf(agentId) != address(0)) _store(agentId, WALLET_KEY, "");
        return super._update(to, agentId, auth);
    }

    function _refuseReserved(string memory key) private pure {
        require(keccak256(bytes(key)) != WALLET_KEY_HASH, ReservedKey());
    }

    /// Plain keys first, so that an account with delegated code can still sign with its key.
    function _signed(address wallet, bytes32 digest, bytes calldata signature) private view returns (bool) {
        (address signer, ECDSA.RecoverError problem, ) = ECDSA.tryRecover(digest, signature);
        if (problem == ECDSA.RecoverError.NoError && signer == wallet) return true;
        if (wallet.code.length == 0) return false;
        return IERC1271(wallet).isValidSignature(digest, signature) == IERC1271.isValidSignature.selector;
    }

    function _domain() internal pure override returns (string memory, string memory) {
        return ("ERC8004IdentityRegistry", "1");
    }
}
